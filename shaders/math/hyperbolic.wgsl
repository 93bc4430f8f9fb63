// Hyperbolic functions of f32 and their inverses.

// sinh x: x + x^3 p(x^2) below 1, else (e^|x| - e^-|x|) / 2.
// Within 2 ULP for every f32; subnormal operands may count as zero.
fn sinh_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let square = a * a;
    var p = fma(square, 2.7839255e-6, 1.9842635e-4);
    p = fma(p, square, 8.333311e-3);
    p = fma(p, square, 0.16666667);
    let small = fma(p * square, a, a);
    let half = exp_scaled_f32(a, -1);
    let large = half - 0.25 / min(half, 1.0e18);
    var bits = bitcast<u32>(select(large, small, a < 1.0));
    bits = select(bits, 0x7f800000u, a > 89.415985);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits | sign_bits_f32(x)));
}

// cosh x = (e^|x| + e^-|x|) / 2.
// Within 2 ULP for every f32.
fn cosh_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let half = exp_scaled_f32(a, -1);
    let value = half + 0.25 / min(half, 1.0e18);
    let bits = select(bitcast<u32>(value), 0x7f800000u, a > 89.415985);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}

// tanh x: x + x^3 p(x^2) below 5/8, else 1 - 2 / (e^2|x| + 1).
// Within 2 ULP for every f32; subnormal operands may count as zero.
fn tanh_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let square = a * a;
    var p = fma(square, -5.715499e-3, 2.0649103e-2);
    p = fma(p, square, -5.3743005e-2);
    p = fma(p, square, 0.13331485);
    p = fma(p, square, -0.33333284);
    let small = fma(p * square, a, a);
    let large = 1.0 - 2.0 / (exp_scaled_f32(2.0 * min(a, 10.0), 0) + 1.0);
    let bits = bitcast<u32>(select(large, small, a < 0.625)) | sign_bits_f32(x);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}

// asinh x: x + x^3 p(x^2) below 1, else log(|x| + sqrt(x^2 + 1)), which is log 2|x|
// from 10^9 on.
// Within 3 ULP for every f32; subnormal operands may count as zero.
fn asinh_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let square = a * a;
    var p = fma(square, 6.798952e-4, -3.8617686e-3);
    p = fma(p, square, 1.0468111e-2);
    p = fma(p, square, -1.9212887e-2);
    p = fma(p, square, 2.9470272e-2);
    p = fma(p, square, -4.4491265e-2);
    p = fma(p, square, 7.4987546e-2);
    p = fma(p, square, -0.16666631);
    let small = fma(p * square, a, a);
    let is_huge = a > 1.0e9;
    let moderate = min(a, 1.0e9);
    let sum = select(moderate + sqrt(fma(moderate, moderate, 1.0)), a, is_huge);
    let large = log_f32(sum) + select(0.0, 0.693147181, is_huge);
    var bits = bitcast<u32>(select(large, small, a < 1.0));
    bits = select(bits, 0x7f800000u, is_inf_f32(x));
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits | sign_bits_f32(x)));
}

// acosh x = log1p(u + sqrt(u (u + 2))) with u = x - 1, which is log 2x from 10^9 on.
// NaN below 1.
// Within 2.5 ULP for every f32.
fn acosh_f32(x: f32) -> f32 {
    let is_huge = x > 1.0e9;
    let u = min(x, 1.0e9) - 1.0;
    let argument = select(u + sqrt(fma(u, u, u + u)), x, is_huge);
    let value = log1p_f32(argument) + select(0.0, 0.693147181, is_huge);
    let bits = select(bitcast<u32>(value), 0x7f800000u, is_inf_f32(x));
    return nan_where_f32(is_nan_f32(x) | (x < 1.0), bitcast<f32>(bits));
}

// atanh x: x + x^3 p(x^2) below 1/2, else log((1 + |x|) / (1 - |x|)) / 2. Infinite at
// -1 and 1, NaN beyond.
// Within 2 ULP for every f32; subnormal operands may count as zero.
fn atanh_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let square = a * a;
    var p = fma(square, 0.18221547, 8.214819e-2);
    p = fma(p, square, 0.14675184);
    p = fma(p, square, 0.1997772);
    p = fma(p, square, 0.33333743);
    let small = fma(p * square, a, a);
    let large = 0.5 * log_f32((1.0 + a) / max(1.0 - a, 1.0e-8));
    var bits = bitcast<u32>(select(large, small, a < 0.5));
    bits = select(bits, 0x7f800000u, magnitude_f32(x) == 0x3f800000u);
    bits |= sign_bits_f32(x);
    return nan_where_f32(magnitude_f32(x) > 0x3f800000u, bitcast<f32>(bits));
}
