// A fence by a choice on bits, where a compiler sees through shaders/math/fences.wgsl.

fn fenced_f32(x: f32) -> f32 {
    let bits = bitcast<u32>(x) ^ parameters.zero;
    return bitcast<f32>(select(bits, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u));
}
