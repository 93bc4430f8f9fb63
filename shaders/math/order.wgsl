// Keys for sorting: unsigned numbers in the order of the values, made from their bits.
// `flip` is 0 for ascending order and all ones for descending order.

// Keys of floats: -0 equals 0, every NaN has the largest key in both orders. Exact.
fn order_of_f32(bits: u32, flip: u32) -> u32 {
    let magnitude = bits & 0x7fffffffu;
    let ordered = select(bits | 0x80000000u, ~bits, bits > 0x80000000u);
    return select(ordered ^ flip, 0xffffffffu, magnitude > 0x7f800000u);
}

// Keys of signed integers. Exact.
fn order_of_i32(bits: u32, flip: u32) -> u32 {
    return bits ^ 0x80000000u ^ flip;
}

// Keys of unsigned integers, bool as 0 and 1. Exact.
fn order_of_u32(bits: u32, flip: u32) -> u32 {
    return bits ^ flip;
}

// The float of a key; NaN has lost its bits and zero its sign. Exact.
fn f32_of_order(key: u32, flip: u32) -> f32 {
    let ordered = key ^ flip;
    let bits = select(~ordered, ordered & 0x7fffffffu, ordered >= 0x80000000u);
    return bitcast<f32>(select(bits, 0x7fc00000u, key == 0xffffffffu));
}
