// Converts float16 by its bits, for machines that compute IEEE floats exactly.

// The float16 whose bits the low half of `bits` holds. Exact.
fn f32_from_half_bits(bits: u32) -> f32 {
    let sign = (bits & 0x8000u) << 16u;
    let scaled = bitcast<f32>((bits & 0x7fffu) << 13u) * 0x1p112;
    let special = bitcast<u32>(scaled) | 0x7f800000u;
    let magnitude = select(bitcast<u32>(scaled), special, (bits & 0x7c00u) == 0x7c00u);
    return bitcast<f32>(magnitude | sign);
}

// The bits of the float16 nearest to x, halves to even; from 65520 on it is infinite.
// Adding a power of two that is 2^13 units of the last place large rounds in place.
fn half_bits_from_f32(x: f32) -> u32 {
    let magnitude = bitcast<u32>(x) & 0x7fffffffu;
    let base = max(magnitude & 0x7f800000u, 0x38800000u) + 0x06800000u;
    let anchor = bitcast<f32>(base);
    let rounded = bitcast<u32>(bitcast<f32>(min(magnitude, 0x47800000u)) + anchor);
    let small = ((base - 0x3f000000u) >> 13u) + (rounded - base);
    let large = select(0x7c00u, 0x7e00u, magnitude > 0x7f800000u);
    let bits = select(small, large, magnitude >= 0x477ff000u);
    return bits | ((bitcast<u32>(x) >> 16u) & 0x8000u);
}

// The nearest float16, held in an f32.
fn rounded_to_half_f32(x: f32) -> f32 {
    return f32_from_half_bits(half_bits_from_f32(x));
}

// The float16 next to x on the way to `toward`, both held in f32. Neighbours of one
// sign differ by one as integers; both zeros lead to the smallest subnormals.
fn nextafter_half_f32(x: f32, toward: f32) -> f32 {
    let bits = half_bits_from_f32(x);
    let is_away = (toward > x) == ((bits & 0x8000u) == 0u);
    var next = select(bits - 1u, bits + 1u, is_away);
    let smallest = ((bitcast<u32>(toward) >> 16u) & 0x8000u) | 1u;
    next = select(next, smallest, (bits & 0x7fffu) == 0u);
    let moved = select(f32_from_half_bits(next), toward, x == toward);
    return select(moved, x + toward, (x != x) | (toward != toward));
}
