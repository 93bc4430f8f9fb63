// Subtracts f32 where the operands may be one value.

// x - y, also when a compiler sees that x and y are the same value and would make their
// difference 0 for infinities and NaN too. Needed only then.
// Within 0.5 ULP for every pair of f32; subnormal operands and results may be flushed
// to zero.
fn subtract_f32(x: f32, y: f32) -> f32 {
    return x - pinned_f32(y, y);
}
