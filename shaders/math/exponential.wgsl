// Exponential functions of f32 from own polynomials.

// 2^exponent e^x where that is a normal f32: no range check, NaN is not kept.
// x = n ln2 + r with |r| <= ln2 / 2, ln2 in two parts of which n times the first is
// exact; e^r = 1 + r q(r); n + exponent is added to the exponent field. Adding 3 2^22
// rounds to n and leaves n in the lowest bits: no conversions, which GPUs do slowly.
fn exp_scaled_f32(x: f32, exponent: i32) -> f32 {
    let shifted = pinned_f32(fma(x, 1.44269504, 12582912.0), x);
    let n = shifted - 12582912.0;
    let r = fma(n, 2.12194440e-4, pinned_f32(fma(n, -0.693359375, x), x));
    var q = fma(r, 1.3818939e-3, 8.368704e-3);
    q = fma(q, r, 4.166829e-2);
    q = fma(q, r, 0.16666521);
    q = fma(q, r, 0.49999994);
    q = fma(q, r, 1.0);
    let power = fma(q, r, 1.0);
    let scale = (bitcast<u32>(shifted) + u32(exponent)) << 23u;
    return bitcast<f32>(bitcast<u32>(power) + scale);
}

// e^x. Infinity above 88.72283.
// Within 1.5 ULP for every f32; subnormal operands and results may be flushed to zero.
fn exp_f32(x: f32) -> f32 {
    var bits = bitcast<u32>(exp_scaled_f32(x, 0));
    bits = select(bits, 0u, x < -87.33654);
    bits = select(bits, 0x7f800000u, x > 88.72283);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}

// 2^r for |r| <= 1/2 as 1 + r q(r). Max error 1.5 ULP, exact at 0.
fn exp2_fraction_f32(r: f32) -> f32 {
    var q = fma(r, 1.5329264e-4, 1.3390969e-3);
    q = fma(q, r, 9.618499e-3);
    q = fma(q, r, 5.5503596e-2);
    q = fma(q, r, 0.24022648);
    q = fma(q, r, 0.6931472);
    return fma(q, r, 1.0);
}

// 2^x: x = n + r with |r| <= 1/2. Exact for integers; infinity from 128 on.
// Within 1.5 ULP for every f32; subnormal operands and results may be flushed to zero.
fn exp2_f32(x: f32) -> f32 {
    let n = round(x);
    var bits = bitcast<u32>(exp2_fraction_f32(x - n)) + (u32(i32(n)) << 23u);
    bits = select(bits, 0u, x < -126.0);
    bits = select(bits, 0x7f800000u, x >= 128.0);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}

// e^x - 1: x = n ln2 + r as in exp, then 2^n (e^r - 1) + (2^n - 1), at half size so
// that n = 128 fits. Below 2^-24 it is x itself.
// Within 2 ULP for every f32; subnormal operands may count as zero.
fn expm1_f32(x: f32) -> f32 {
    let limited = clamp(x, -20.0, 89.0);
    let n = round(limited * 1.44269504);
    let rest = pinned_f32(fma(n, -0.693359375, limited), x);
    let r = fma(n, 2.12194440e-4, rest);
    var q = fma(r, 1.393999e-3, 8.366576e-3);
    q = fma(q, r, 4.166641e-2);
    q = fma(q, r, 0.16666543);
    q = fma(q, r, 0.5);
    let half_scale = bitcast<f32>(u32(i32(n) + 126) << 23u);
    let half = fma(fma(r * r, q, r), half_scale, half_scale - 0.5);
    var bits = bitcast<u32>(half + half);
    bits = select(bits, bitcast<u32>(x), magnitude_f32(x) < 0x33800000u);
    bits = select(bits, 0x7f800000u, x > 88.72283);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}

// 1 / (1 + e^-x).
// Within 3 ULP for every f32; subnormal operands and results may be flushed to zero.
fn sigmoid_f32(x: f32) -> f32 {
    let limited = clamp(x, -87.33654, 30.0);
    let value = 1.0 / (1.0 + exp_scaled_f32(-limited, 0));
    let bits = select(bitcast<u32>(value), 0u, x < -87.33654);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}
