// What float16 needs beyond computing in f32: steps between its own numbers.

// The bits of a float16 number held in an f32, infinities included. Exact.
fn bits_of_half_f32(x: f32) -> u32 {
    let finite = pack2x16float(vec2f(clamp(x, -65504.0, 65504.0), 0.0)) & 0xffffu;
    let infinite = 0x7c00u | (sign_bits_f32(x) >> 16u);
    return select(finite, infinite, is_inf_f32(x));
}

// The float16 next to x on the way to `toward`, both held in f32.
// Exact for every pair of float16.
fn nextafter_half_f32(x: f32, toward: f32) -> f32 {
    let bits = bits_of_half_f32(x);
    let magnitude = bits & 0x7fffu;
    let is_away = greater_f32(toward, x) == ((bits & 0x8000u) == 0u);
    var next = select(bits - 1u, bits + 1u, is_away);
    next = select(next, (sign_bits_f32(toward) >> 16u) | 1u, magnitude == 0u);
    let step = unpack2x16float(next).x;
    let infinite = bitcast<f32>(0x7f800000u | ((next & 0x8000u) << 16u));
    let stepped = select(step, infinite, (next & 0x7fffu) == 0x7c00u);
    let moved = select(stepped, toward, equal_f32(x, toward));
    return nan_where_f32(is_nan_f32(x) | is_nan_f32(toward), moved);
}
