// Roots, for machines whose square roots are the nearest float.

// 1 / sqrt x.
fn rsqrt_f32(x: f32) -> f32 {
    return divide_f32(1.0, sqrt_f32(x));
}
