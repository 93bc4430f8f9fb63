// Powers and roots of f32.

// sqrt x: the adapter's square root, with -0 kept and NaN below zero.
// Within 1 ULP for every f32; 0.5 on software adapters; subnormal operands may count as
// zero.
fn sqrt_f32(x: f32) -> f32 {
    let raw = bitcast<u32>(x);
    let is_same = (raw == 0x7f800000u) | (magnitude_f32(x) == 0u);
    let bits = select(bitcast<u32>(sqrt(x)), raw, is_same);
    return nan_where_f32((raw > 0x7f800000u) & (raw != 0x80000000u), bitcast<f32>(bits));
}

// 1 / sqrt x; an infinity at both zeros, NaN below zero. A step of Newton's method mends
// what an inexact square root leaves, where all of it is normal.
// Within 1.5 ULP for every f32; subnormal operands may count as zero.
fn rsqrt_f32(x: f32) -> f32 {
    let estimate = divide_f32(1.0, sqrt_f32(x));
    let rest = fma(-(x * estimate), estimate, 1.0);
    let is_normal = bitcast<u32>(x) - 0x00800000u < 0x7f000000u;
    return select(estimate, fma(0.5 * estimate, rest, estimate), is_normal);
}

// cbrt x, with the sign of x; zeros, infinities and NaN are their own cube roots. A
// third of the exponent is a guess to 3 %, Halley's step makes an error e of it 2/3 e^3,
// and Newton's step, with a - t^3 from t^2 in two parts, leaves its own rounding. The
// least and the greatest numbers are scaled by 2^24 and back.
// Within 1.5 ULP for every f32; subnormal operands may count as zero.
fn cbrt_f32(x: f32) -> f32 {
    let raw = magnitude_f32(x);
    let is_large = raw >= 0x73000000u;
    let is_small = raw < 0x0c800000u;
    let a = abs_f32(x) * select(select(1.0, 0x1p24, is_small), 0x1p-24, is_large);
    let guess = bitcast<f32>(bitcast<u32>(a) / 3u + 0x2a514067u);
    let quotient = a / (guess * guess);
    let t = fma(guess, (quotient - guess) / fma(2.0, guess, quotient), guess);
    let square = t * t;
    let rest = fma(-square, t, a) - fma(t, t, -square) * t;
    let unscale = select(select(1.0, 0x1p-8, is_small), 0x1p8, is_large);
    let root = (t + rest / (3.0 * square)) * unscale;
    let bits = select(bitcast<u32>(root), raw, (a == 0.0) | (raw >= 0x7f800000u));
    return bitcast<f32>(bits | sign_bits_f32(x));
}

// sqrt(x^2 + y^2), scaled by a power of two so that nothing overflows on the way.
// Infinite when either is, even if the other is NaN.
// Within 2 ULP for every pair of f32; subnormal operands and results may be flushed to
// zero.
fn hypot_f32(x: f32, y: f32) -> f32 {
    let largest = max(magnitude_f32(x), magnitude_f32(y));
    let is_large = largest >= 0x5f000000u;
    let is_small = largest < 0x26800000u;
    let scale = select(select(1.0, 0x1p80, is_small), 0x1p-64, is_large);
    let unscale = select(select(1.0, 0x1p-80, is_small), 0x1p64, is_large);
    let scaled_x = x * scale;
    let scaled_y = y * scale;
    let value = sqrt(fma(scaled_x, scaled_x, scaled_y * scaled_y)) * unscale;
    let is_infinite = is_inf_f32(x) | is_inf_f32(y);
    let result = nan_where_f32(!is_ordered_f32(x, y), value);
    return bitcast<f32>(select(bitcast<u32>(result), 0x7f800000u, is_infinite));
}

// log2 x for positive finite x as head + tail with about 34 bits; the head has 12.
// log(1 + f) = 2 atanh(s), s = f / (2 + f) in two parts, and so is s^3 in
// atanh(s) = s + s^3 / 3 + s^5 w(s^2).
fn log2_parts_f32(x: f32) -> vec2f {
    let parts = split_power_f32(x);
    let f = parts.x;
    let e = parts.y;
    let sum_head = head_f32(2.0 + f);
    let sum_tail = f - pinned_f32(sum_head - 2.0, x);
    let inverse = 1.0 / (2.0 + f);
    let s_head = head_f32(f * inverse);
    let rest = pinned_f32(fma(-s_head, sum_head, f), x);
    let s_tail = inverse * fma(-s_head, sum_tail, rest);
    let head_square = s_head * s_head;
    let square_head = head_f32(head_square);
    let cube_head = pinned_f32(s_head * square_head, x);
    let s = s_head + s_tail;
    let square = s * s;
    let cross = 3.0 * s_head * s * s_tail;
    let cube_tail = fma(s_head, head_square - square_head, cross);
    var w = fma(square, 0.117096946, 0.14273548);
    w = fma(w, square, 0.20000076);
    let fifth = fma(w * s, square * square, s_tail);
    let third_head = head_f32(cube_head * 0.33333333);
    let third_rest = pinned_f32(fma(-3.0, third_head, cube_head), x);
    let third_tail = fma(third_rest + cube_tail, 0.33333333, fifth);
    let high = s_head * 2.884765625;
    let middle = pinned_f32(third_head * 2.884765625, x);
    let low = fma(third_tail, 2.88539008, (s_head + third_head) * 6.24456778e-4);
    let head = head_f32(e + pinned_f32(high + (middle + low), x));
    let rest_high = pinned_f32(high - pinned_f32(head - e, x), x);
    return vec2f(head, pinned_f32(rest_high + middle, x) + low);
}

// |x|^y for positive finite x and |y| <= 10^12, as 2^(y log2 x) with the exponent in
// two parts; saturates to infinity, subnormal results are flushed to 0.
fn pow_positive_f32(x: f32, y: f32) -> f32 {
    let log_parts = log2_parts_f32(x);
    let y_head = head_f32(y);
    let high = y_head * log_parts.x;
    let low = fma(y - y_head, log_parts.x, y * log_parts.y);
    let exponent = clamp(high + low, -1000.0, 1000.0);
    let n = round(exponent);
    let power = exp2_fraction_f32(pinned_f32(high - n, x) + low);
    var bits = bitcast<u32>(power) + (u32(i32(n)) << 23u);
    bits = select(bits, 0u, exponent < -126.0);
    bits = select(bits, 0x7f800000u, exponent >= 128.0);
    return bitcast<f32>(bits);
}

// x^y with the special cases of C99: 1 for y = 0 or x = 1 even with NaN, NaN for a
// negative x and a fractional y, the sign of x for an odd y. Exact when
// the power of an integer is an f32.
// Within 1.5 ULP for every pair of f32; subnormal operands and results may be flushed
// to zero.
fn pow_f32(x: f32, y: f32) -> f32 {
    let size = magnitude_f32(x);
    let limited = clamp(y, -1.0e12, 1.0e12);
    let is_integer = trunc(limited) == limited;
    let is_odd = is_integer & (trunc(0.5 * limited) != 0.5 * limited);
    let is_extreme = (size == 0u) | (size == 0x7f800000u);
    let is_growing = signbit_f32(y) == (size == 0u);
    var bits = bitcast<u32>(pow_positive_f32(abs_f32(x), limited));
    bits = select(bits, select(0u, 0x7f800000u, is_growing), is_extreme);
    bits |= select(0u, sign_bits_f32(x), is_odd);
    let is_fractional = signbit_f32(x) & !is_extreme & !is_integer;
    let invalid = is_fractional | !is_ordered_f32(x, y);
    bits = select(bits, 0x7fc00000u, invalid);
    let is_one = (bitcast<u32>(x) == 0x3f800000u) | (magnitude_f32(y) == 0u);
    return bitcast<f32>(select(bits, 0x3f800000u, is_one));
}
