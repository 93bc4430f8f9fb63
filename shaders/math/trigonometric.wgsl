// Sine, cosine and tangent of f32 for every finite argument.

// The 32 bits of 2 / pi that start 32 `word` bits after the binary point, word 0 to 5. Not
// an array: compilers that inline store a copy of it for each computed index.
fn two_over_pi_word(word: i32) -> u32 {
    let near = select(select(0xa2f9836eu, 0x4e441529u, word == 1), 0xfc2757d1u, word == 2);
    let far = select(select(0xf534ddc0u, 0xdb629599u, word == 4), 0x3c439041u, word == 5);
    return select(near, far, word > 2);
}

// The high 32 bits of x y, from products of 16-bit halves. Exact.
fn multiply_high_u32(x: u32, y: u32) -> u32 {
    let x_low = x & 0xffffu;
    let x_high = x >> 16u;
    let y_low = y & 0xffffu;
    let y_high = y >> 16u;
    let middle = x_high * y_low + ((x_low * y_low) >> 16u);
    let other = x_low * y_high + (middle & 0xffffu);
    return x_high * y_high + (middle >> 16u) + (other >> 16u);
}

// 32 of the 64 bits of two words, from bit `shift` on, 0 to 31.
fn bits_of_words(left: u32, right: u32, shift: u32) -> u32 {
    return select((left << shift) | (right >> ((32u - shift) & 31u)), left, shift == 0u);
}

// a = q pi/2 + r, |r| <= pi/4, for finite a >= 2, as (r, q modulo 4).
// Payne and Hanek: the fraction of a 2/pi to 62 bits, only from those bits of 2/pi
// that reach it. Max error of r 1 ULP.
fn reduce_large_angle_f32(a: f32) -> vec2f {
    let bits = bitcast<u32>(a);
    let significand = (bits << 8u) | 0x80000000u;
    let exponent = i32(bits >> 23u) - 128;
    let word = exponent >> 5u;
    let shift = u32(exponent) & 31u;
    let first = select(two_over_pi_word(word - 1), 0u, word < 1);
    let second = two_over_pi_word(word);
    let third = two_over_pi_word(word + 1);
    let high = bits_of_words(first, second, shift);
    let middle = bits_of_words(second, third, shift);
    let low = bits_of_words(third, two_over_pi_word(word + 2), shift);
    let carry_in = multiply_high_u32(significand, low);
    let product_low = significand * middle + carry_in;
    let carry = select(0u, 1u, product_low < carry_in);
    let product = significand * high + multiply_high_u32(significand, middle) + carry;
    let quadrant = (product + 0x20000000u) >> 30u;
    let is_below = (product & 0x20000000u) != 0u;
    let fraction_high = product - (quadrant << 30u);
    let borrow = select(1u, 0u, product_low != 0u);
    let size_high = select(fraction_high, ~fraction_high + borrow, is_below);
    let size_low = select(product_low, 0u - product_low, is_below);
    let zeros = countLeadingZeros(size_high);
    let spill = select(size_low >> ((32u - zeros) & 31u), 0u, zeros == 0u);
    let top = select((size_high << (zeros & 31u)) | spill, size_low, zeros == 32u);
    let head = f32(top & 0xffffff00u);
    let tail = f32(top & 0xffu);
    let scale = bitcast<f32>((97u - zeros) << 23u);
    let rest = fma(head, -4.37113883e-8, tail * 1.57079637);
    let r = fma(head, 1.57079637, pinned_f32(rest, a)) * scale;
    return vec2f(select(r, -r, is_below), f32(quadrant));
}

// a = q pi/2 + r, |r| <= pi/4, for finite a >= 0, as (r, q). Up to 2048 Cody and Waite:
// pi/2 in four parts, of which q < 2^11 times the first three are exact.
fn reduce_angle_f32(a: f32) -> vec2f {
    if (a > 2048.0) {
        return reduce_large_angle_f32(a);
    }
    let q = round(a * 0.636619772);
    var r = pinned_f32(fma(q, -1.570556640625, a), a);
    r = pinned_f32(fma(q, -2.39670277e-4, r), a);
    r = pinned_f32(fma(q, -1.58906914e-8, r), a);
    r = fma(q, -2.56334407e-12, r);
    return vec2f(r, q);
}

// The sine (quarter 0), cosine (1), -sine (2) or -cosine (3) of r, |r| <= pi/4.
fn sine_of_quarter_f32(r: f32, quarter: u32) -> f32 {
    let square = r * r;
    var s = fma(square, -1.9518408e-4, 8.33219e-3);
    s = fma(s, square, -0.16666655);
    let sine = fma(s * square, r, r);
    var c = fma(square, 2.4430668e-5, -1.3887301e-3);
    c = fma(c, square, 4.1666646e-2);
    c = fma(c, square, -0.5);
    let cosine = fma(c, square, 1.0);
    let bits = bitcast<u32>(select(sine, cosine, (quarter & 1u) == 1u));
    return bitcast<f32>(bits ^ ((quarter & 2u) << 30u));
}

// sin x = sin(q pi/2 + r). NaN at infinities.
// Within 2.5 ULP for every f32; subnormal operands may count as zero.
fn sin_f32(x: f32) -> f32 {
    let reduced = reduce_angle_f32(abs_f32(x));
    let value = sine_of_quarter_f32(reduced.x, u32(reduced.y));
    let bits = bitcast<u32>(value) ^ sign_bits_f32(x);
    return nan_where_f32(!is_finite_f32(x), bitcast<f32>(bits));
}

// cos x = sin(q pi/2 + r + pi/2). NaN at infinities.
// Within 2.5 ULP for every f32.
fn cos_f32(x: f32) -> f32 {
    let reduced = reduce_angle_f32(abs_f32(x));
    let value = sine_of_quarter_f32(reduced.x, u32(reduced.y) + 1u);
    return nan_where_f32(!is_finite_f32(x), value);
}

// tan x = tan r for even q, -1 / tan r for odd q; tan r = r + r^3 p(r^2). NaN at
// infinities.
// Within 3.5 ULP for every f32; subnormal operands may count as zero.
fn tan_f32(x: f32) -> f32 {
    let reduced = reduce_angle_f32(abs_f32(x));
    let r = reduced.x;
    let square = r * r;
    var p = fma(square, 9.484089e-3, 2.9439759e-3);
    p = fma(p, square, 2.4546666e-2);
    p = fma(p, square, 5.3376317e-2);
    p = fma(p, square, 0.13339256);
    p = fma(p, square, 0.33333138);
    let tangent = fma(p * square, r, r);
    let is_odd = (u32(reduced.y) & 1u) == 1u;
    let value = select(tangent, quotient_f32(-1.0, tangent), is_odd);
    let bits = bitcast<u32>(value) ^ sign_bits_f32(x);
    return nan_where_f32(!is_finite_f32(x), bitcast<f32>(bits));
}
