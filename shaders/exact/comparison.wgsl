// Classifies floats by comparing them, on machines that compute IEEE floats exactly.

// True for NaN only. Exact.
fn is_nan_f32(x: f32) -> bool {
    return x != x;
}

// True when x and y can be ordered, that is when neither is NaN. Exact.
fn is_ordered_f32(x: f32, y: f32) -> bool {
    return (x == x) & (y == y);
}

// True for both infinities. Exact.
fn is_inf_f32(x: f32) -> bool {
    return abs(x) > 0x1.fffffep127;
}

// True for everything but NaN and the infinities. Exact.
fn is_finite_f32(x: f32) -> bool {
    return abs(x) <= 0x1.fffffep127;
}

// `value`, or a NaN when `invalid` holds: its bits are put over those of the value.
fn nan_where_f32(invalid: bool, value: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(value) | select(0u, 0x7fc00000u, invalid));
}
