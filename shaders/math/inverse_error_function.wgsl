// The inverse error function of f32.

// erfinv x: k x + x p(x^2) x^2 below 0.75, with k = sqrt(pi) / 2. From there on
// s - s q(t) / r(t) with s = sqrt(-log(1 - |x|)) and t = s - 9/8, where 1 - |x| is exact.
// Neither the logarithm nor root and quotient get an operand that is a special case.
// Infinite at 1 and -1, NaN beyond.
// Within 3 ULP for every f32; subnormal operands may count as zero.
fn erfinv_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let u = min(a * a, 0.5625);
    var p = fma(u, 0.7621399, -1.3257774);
    p = fma(p, u, 1.1551516);
    p = fma(p, u, -0.46873537);
    p = fma(p, u, 0.18992509);
    p = fma(p, u, 4.296155e-2);
    p = fma(p, u, 8.850223e-2);
    p = fma(p, u, 0.12747231);
    p = fma(p, u, 0.2320149);
    let near = fma(a * u, p, 0.8862269 * a);
    let s = sqrt(-log_of_normal_f32(max(1.0 - a, 5.9604645e-8)));
    let t = s - 1.125;
    var q = fma(t, -7.408357e-05, 0.0032369934);
    q = fma(q, t, 0.16541031);
    q = fma(q, t, 0.51877624);
    q = fma(q, t, 0.32388234);
    var r = fma(t, 0.09701394, 0.820684);
    r = fma(r, t, 2.1825743);
    r = fma(r, t, 2.499112);
    r = fma(r, t, 1.0);
    let far = fma(-s, quotient_f32(q, r), s);
    let size = magnitude_f32(x);
    let ordinary = bitcast<u32>(select(far, near, a < 0.75));
    let bits = select(ordinary, 0x7f800000u, size == 0x3f800000u);
    return nan_where_f32(size > 0x3f800000u, bitcast<f32>(bits | sign_bits_f32(x)));
}
