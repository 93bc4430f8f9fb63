// Classifies and builds f32 values by their bits, because WGSL lets a compiler assume
// that NaN, infinities and the sign of zero do not occur in float expressions.

// Bits of |x|: ordered like |x|, infinity is 0x7f800000, every NaN lies above. Exact.
fn magnitude_f32(x: f32) -> u32 {
    return bitcast<u32>(x) & 0x7fffffffu;
}

// The sign bit of x in place, 0x80000000 for negative values and -0. Exact.
fn sign_bits_f32(x: f32) -> u32 {
    return bitcast<u32>(x) & 0x80000000u;
}

// +infinity; the variable keeps it out of constant expressions, where it is an error.
fn infinity_f32() -> f32 {
    var bits = 0x7f800000u;
    return bitcast<f32>(bits);
}

// A quiet NaN; the variable keeps it out of constant expressions.
fn nan_f32() -> f32 {
    var bits = 0x7fc00000u;
    return bitcast<f32>(bits);
}

// True for NaN only. Exact.
fn is_nan_f32(x: f32) -> bool {
    return magnitude_f32(x) > 0x7f800000u;
}

// True for both infinities. Exact.
fn is_inf_f32(x: f32) -> bool {
    return magnitude_f32(x) == 0x7f800000u;
}

// True for everything but NaN and the infinities. Exact.
fn is_finite_f32(x: f32) -> bool {
    return magnitude_f32(x) < 0x7f800000u;
}

// is_nan_f32 under its Python name.
// Exact for every f32.
fn isnan_f32(x: f32) -> bool {
    return is_nan_f32(x);
}

// is_inf_f32 under its Python name.
// Exact for every f32.
fn isinf_f32(x: f32) -> bool {
    return is_inf_f32(x);
}

// is_finite_f32 under its Python name.
// Exact for every f32.
fn isfinite_f32(x: f32) -> bool {
    return is_finite_f32(x);
}

// `value`, or a NaN when `invalid` holds; the choice is made on bits.
fn nan_where_f32(invalid: bool, value: f32) -> f32 {
    return bitcast<f32>(select(bitcast<u32>(value), 0x7fc00000u, invalid));
}

// True for negative values, -0 and NaN with its sign bit set.
// Exact for every f32.
fn signbit_f32(x: f32) -> bool {
    return sign_bits_f32(x) != 0u;
}

// |size| with the sign of `sign`, NaN and zeros included.
// Exact for every pair of f32.
fn copysign_f32(size: f32, sign: f32) -> f32 {
    return bitcast<f32>(magnitude_f32(size) | sign_bits_f32(sign));
}

// |x|, NaN and subnormals kept.
// Exact for every f32.
fn abs_f32(x: f32) -> f32 {
    return bitcast<f32>(magnitude_f32(x));
}

// -x with the sign bit flipped, so that the negative of 0 is -0.
// Exact for every f32.
fn negative_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ 0x80000000u);
}

// -1, 0 or 1; both zeros give +0 and NaN stays NaN.
// Exact for every f32.
fn sign_f32(x: f32) -> f32 {
    let magnitude = magnitude_f32(x);
    let one = sign_bits_f32(x) | 0x3f800000u;
    let bits = select(one, 0u, magnitude == 0u);
    return nan_where_f32(magnitude > 0x7f800000u, bitcast<f32>(bits));
}

// x with its 12 last bits cleared: the product of two such heads is exact in f32.
fn head_f32(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) & 0xfffff000u);
}

// `value` for any x but NaN, computed as written: no sum is reordered across the
// choice, which no compiler can foresee. Without it Mesa rewrites c n + (d n + x) into
// (c + d) n + x and so undoes every constant in two parts.
fn pinned_f32(value: f32, x: f32) -> f32 {
    return nan_where_f32(is_nan_f32(x), value);
}

// The f32 next to x on the way to `toward`, subnormals included. Neighbours of one sign
// differ by one as integers; both zeros lead to +-2^-149.
// Exact for every pair of f32.
fn nextafter_f32(x: f32, toward: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let start = order_f32(x);
    let goal = order_f32(toward);
    let away_from_zero = (goal > start) == (start > 0);
    var next = select(bits - 1u, bits + 1u, away_from_zero);
    next = select(next, sign_bits_f32(toward) | 1u, start == 0);
    next = select(next, bitcast<u32>(toward), start == goal);
    return nan_where_f32(is_nan_f32(x) | is_nan_f32(toward), bitcast<f32>(next));
}
