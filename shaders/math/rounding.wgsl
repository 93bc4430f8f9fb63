// Rounds f32 values to integers and keeps -0, infinities and NaN as NumPy does.

// `rounded`, a rounding of x, with the sign of x; x itself from 2^23 on, where every
// f32 is an integer, an infinity or NaN. Rounding never changes the sign of a value.
// What was rounded is chosen before its bits are combined: Mesa's compiler for the CPU
// loses values that are combined first and live across a barrier.
fn finish_rounding_f32(x: f32, rounded: f32) -> f32 {
    let is_small = magnitude_f32(x) < 0x4b000000u;
    let small = select(0.0, rounded, is_small);
    let bits = magnitude_f32(small) | sign_bits_f32(x);
    return bitcast<f32>(select(bitcast<u32>(x), bits, is_small));
}

// The largest integer <= x.
// Exact for every f32; subnormal operands may count as zero.
fn floor_f32(x: f32) -> f32 {
    return finish_rounding_f32(x, floor(x));
}

// The smallest integer >= x; ceil(-0.5) is -0.
// Exact for every f32; subnormal operands may count as zero.
fn ceil_f32(x: f32) -> f32 {
    return finish_rounding_f32(x, ceil(x));
}

// x without its fraction.
// Exact for every f32.
fn trunc_f32(x: f32) -> f32 {
    return finish_rounding_f32(x, trunc(x));
}

// The nearest integer, the even one of two: 0.5 gives 0, 1.5 gives 2.
// Exact for every f32.
fn round_f32(x: f32) -> f32 {
    return finish_rounding_f32(x, round(x));
}
