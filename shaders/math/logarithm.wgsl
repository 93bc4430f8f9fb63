// Logarithms of f32 from own polynomials.

// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), returned as (f, e). Exact for
// positive finite x, subnormals included.
fn split_power_f32(x: f32) -> vec2f {
    let raw = bitcast<u32>(x);
    let shift = select(0u, countLeadingZeros(raw) - 8u, raw < 0x00800000u);
    let bits = (raw << (shift & 31u)) + (0x3f800000u - 0x3f3504f3u);
    let exponent = i32(bits >> 23u) - 127 - i32(shift);
    let mantissa = bitcast<f32>((bits & 0x007fffffu) + 0x3f3504f3u);
    return vec2f(mantissa - 1.0, f32(exponent));
}

// log(1 + f) - f + f^2 / 2 for 1 + f in [sqrt(1/2), sqrt(2)) as f^3 p(f).
fn log_tail_f32(f: f32) -> f32 {
    var p = fma(f, -7.861159e-2, 0.1288274);
    p = fma(p, f, -0.13128558);
    p = fma(p, f, 0.14180966);
    p = fma(p, f, -0.16624556);
    p = fma(p, f, 0.20002301);
    p = fma(p, f, -0.2500081);
    p = fma(p, f, 0.33333316);
    return p * f * (f * f);
}

// `value`, the logarithm of x for positive finite x, or what every logarithm gives
// elsewhere: -infinity at both zeros, infinity at infinity, NaN below zero.
fn finish_log_f32(x: f32, value: f32) -> f32 {
    let raw = bitcast<u32>(x);
    var bits = select(bitcast<u32>(value), 0x7f800000u, raw == 0x7f800000u);
    bits = select(bits, 0x7fc00000u, raw > 0x7f800000u);
    bits = select(bits, 0xff800000u, magnitude_f32(x) == 0u);
    return bitcast<f32>(bits);
}

// log x = e ln2 + log(1 + f) for positive finite x.
fn log_of_parts_f32(x: f32, f: f32, e: f32) -> f32 {
    let tail = fma(-0.5 * f, f, log_tail_f32(f));
    let low = pinned_f32(f + fma(e, -2.12194440e-4, tail), x);
    return fma(e, 0.693359375, low);
}

// Within 1 ULP for every f32.
fn log_f32(x: f32) -> f32 {
    let parts = split_power_f32(x);
    return finish_log_f32(x, log_of_parts_f32(x, parts.x, parts.y));
}

// The same logarithm of a positive, finite and normal x.
fn log_of_normal_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x) + (0x3f800000u - 0x3f3504f3u);
    let mantissa = bitcast<f32>((bits & 0x007fffffu) + 0x3f3504f3u);
    let exponent = f32(i32(bits >> 23u) - 127);
    return log_of_parts_f32(x, mantissa - 1.0, exponent);
}

// log(1 + x): 1 + x = 2^e (1 + f) with 1 + f in [3/4, 3/2), f = 2^-e x + (2^-e - 1), so
// that no digit of a small x is lost. Below 2^-24 it is x itself.
// Within 1.5 ULP for every f32; subnormal operands may count as zero.
fn log1p_f32(x: f32) -> f32 {
    let field = (bitcast<u32>(1.0 + x) - 0x3f400000u) & 0xff800000u;
    let scaled = bitcast<f32>(bitcast<u32>(x) - field);
    let four_scale = bitcast<f32>(0x40800000u - field);
    let f = select(scaled + fma(0.25, four_scale, -1.0), x, field == 0u);
    var p = fma(f, 3.871464e-2, -9.242312e-2);
    p = fma(p, f, 0.117340006);
    p = fma(p, f, -0.12716101);
    p = fma(p, f, 0.14270915);
    p = fma(p, f, -0.16655509);
    p = fma(p, f, 0.19999826);
    p = fma(p, f, -0.25000167);
    p = fma(p, f, 0.33333337);
    let square = f * f;
    let tail = fma(p * f, square, -0.5 * square);
    let e = f32(bitcast<i32>(field) >> 23u);
    let low = pinned_f32(f + fma(e, -2.12194440e-4, tail), x);
    let value = fma(e, 0.693359375, low);
    var bits = bitcast<u32>(value);
    bits = select(bits, bitcast<u32>(x), magnitude_f32(x) < 0x33800000u);
    bits = select(bits, 0x7f800000u, bitcast<u32>(x) == 0x7f800000u);
    bits = select(bits, 0xff800000u, bitcast<u32>(x) == 0xbf800000u);
    return nan_where_f32(is_nan_f32(x) | (x < -1.0), bitcast<f32>(bits));
}

// log(1 + f) as head + tail, where the head has 12 bits: their products with a 12-bit
// constant are exact.
fn log_parts_f32(f: f32) -> vec2f {
    let half_square = 0.5 * f * f;
    let head = head_f32(f - half_square);
    let tail = (pinned_f32(f - head, f) - half_square) + log_tail_f32(f);
    return vec2f(head, tail);
}

// log2 x = e + log(1 + f) / ln2, 1 / ln2 in two parts. Exact for powers of
// two.
// Within 1 ULP for every f32.
fn log2_f32(x: f32) -> f32 {
    let parts = split_power_f32(x);
    let log_parts = log_parts_f32(parts.x);
    let head = log_parts.x;
    let tail = log_parts.y;
    let low = pinned_f32(fma(head + tail, -1.7605285e-4, tail * 1.442871094), x);
    return finish_log_f32(x, pinned_f32(fma(head, 1.442871094, low), x) + parts.y);
}

// log10 x = e log10(2) + log(1 + f) / ln10, both constants in two parts. Exact for
// the powers of ten that an f32 holds.
// Within 1 ULP for every f32.
fn log10_f32(x: f32) -> f32 {
    let parts = split_power_f32(x);
    let log_parts = log_parts_f32(parts.x);
    let head = log_parts.x;
    let tail = log_parts.y;
    let e = parts.y;
    var low = fma(head + tail, -3.1689971e-5, e * 7.9034152e-7);
    low = pinned_f32(fma(tail, 0.43432617, low), x);
    low = pinned_f32(fma(head, 0.43432617, low), x);
    return finish_log_f32(x, fma(e, 0.30102921, low));
}

// log(e^x + e^y) = max + log1p(e^-|x - y|); the sum cancels where the result is near
// zero.
// Within 2.5 ULP for every pair of f32; in ULP of the largest of |x|, |y| and |result|.
fn logaddexp_f32(x: f32, y: f32) -> f32 {
    let larger = max(x, y);
    let value = larger + log1p_f32(exp_f32(-abs(x - y)));
    let bits = select(bitcast<u32>(value), bitcast<u32>(larger), is_inf_f32(larger));
    return nan_where_f32(!is_ordered_f32(x, y), bitcast<f32>(bits));
}
