// The error function of f32.

// erf x: x + x p(x^2) below 0.92, else 1 - e^-(x + x q(x)), which is 1 from 4 on.
// Within 2 ULP for every f32; subnormal operands may count as zero.
fn erf_f32(x: f32) -> f32 {
    let a = min(abs_f32(x), 4.0);
    let square = a * a;
    var p = fma(square, -5.980214e-4, 4.991762e-3);
    p = fma(p, square, -2.6766231e-2);
    p = fma(p, square, 0.11281827);
    p = fma(p, square, -0.37612498);
    p = fma(p, square, 0.12837915);
    let small = select(fma(p, a, a), 1.12837917 * a, a < 1.0e-10);
    var q = fma(a, -2.1399117e-4, 3.214991e-3);
    q = fma(q, a, -2.2890039e-2);
    q = fma(q, a, 0.105261914);
    q = fma(q, a, 0.6357183);
    q = fma(q, a, 0.12851436);
    let large = 1.0 - exp_scaled_f32(-fma(q, a, a), 0);
    let bits = bitcast<u32>(select(large, small, a < 0.92)) | sign_bits_f32(x);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}
