// Keys for sorting float16 by its bits, which stand in the low half of a word.
// `flip` is 0 for ascending order and all ones for descending order.

// -0 equals 0, every NaN has the largest key in both orders. Exact.
fn order_of_half(bits: u32, flip: u32) -> u32 {
    let magnitude = bits & 0x7fffu;
    let ordered = select(bits | 0x8000u, bits ^ 0xffffu, bits > 0x8000u);
    return select(ordered ^ (flip & 0xffffu), 0xffffu, magnitude > 0x7c00u);
}

// The bits of a key; NaN has lost its own and zero its sign. Exact.
fn half_of_order(key: u32, flip: u32) -> u32 {
    let ordered = key ^ (flip & 0xffffu);
    let bits = select(ordered ^ 0xffffu, ordered & 0x7fffu, ordered >= 0x8000u);
    return select(bits, 0x7e00u, key == 0xffffu);
}
