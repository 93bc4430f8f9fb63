// Exponentials for machines that compute IEEE floats exactly.

// e^x, as in shaders/math/exponential.wgsl, with fewer questions: infinity and NaN are
// what x times the largest float is.
fn exp_f32(x: f32) -> f32 {
    let shifted = fma(x, 1.44269504, 12582912.0);
    let n = shifted - 12582912.0;
    let r = fma(n, 2.12194440e-4, fma(n, -0.693359375, x));
    var q = fma(r, 1.3818939e-3, 8.368704e-3);
    q = fma(q, r, 4.166829e-2);
    q = fma(q, r, 0.16666521);
    q = fma(q, r, 0.49999994);
    q = fma(q, r, 1.0);
    let bits = bitcast<u32>(fma(q, r, 1.0)) + (bitcast<u32>(shifted) << 23u);
    let value = bitcast<f32>(select(bits, 0u, x < -87.33654));
    return select(x * 0x1.fffffep127, value, x <= 88.72283);
}

// e^x where x is not above 0, or NaN: no overflow, and 2^-127 is 0. As exact as exp_f32;
// the exponent of the power of two is the sum's lowest bits.
fn exp_not_positive_f32(x: f32) -> f32 {
    let limited = max(x, -88.0);
    let shifted = fma(limited, 1.44269504, 12583039.0);
    let n = shifted - 12583039.0;
    let r = fma(n, 2.12194440e-4, fma(n, -0.693359375, limited));
    var q = fma(r, 1.3818939e-3, 8.368704e-3);
    q = fma(q, r, 4.166829e-2);
    q = fma(q, r, 0.16666521);
    q = fma(q, r, 0.49999994);
    q = fma(q, r, 1.0);
    return fma(q, r, 1.0) * bitcast<f32>(bitcast<u32>(shifted) << 23u);
}
