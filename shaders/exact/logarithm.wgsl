// Splits floats for logarithms, on machines that compute IEEE floats exactly.

// x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), returned as (f, e). Exact for
// positive finite x; subnormals are scaled, since vectors have no shifts by lane.
fn split_power_f32(x: f32) -> vec2f {
    let is_small = bitcast<u32>(x) < 0x00800000u;
    let scaled = select(x, x * 8388608.0, is_small);
    let bits = bitcast<u32>(scaled) + (0x3f800000u - 0x3f3504f3u);
    let exponent = f32(i32(bits >> 23u) - 127) - select(0.0, 23.0, is_small);
    let mantissa = bitcast<f32>((bits & 0x007fffffu) + 0x3f3504f3u);
    return vec2f(mantissa - 1.0, exponent);
}
