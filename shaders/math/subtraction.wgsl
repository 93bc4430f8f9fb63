// Subtracts f32 where the operands may be one value.

// x - y, also when a compiler sees that x and y are the same value and would make
// their difference 0 for infinities and NaN too. Max error 0.5 ULP; needed only then.
fn subtract_f32(x: f32, y: f32) -> f32 {
    return x - pinned_f32(y, y);
}
