// Hides a value from compilers that calculate with it as with an exact number.

// x; the parameter is 0, which no compiler knows. Drivers for Vulkan (NVIDIA 580, Mesa 22)
// make v of (inf - v) + v, 0 of v - v, and c (a + b) of c a + c b, and so lose NaN and
// infinities. Behind a fence they see two different values. Exact.
fn fenced_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ parameters.zero);
}
