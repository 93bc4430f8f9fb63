// Converts f32 to integers by truncation with defined results out of range, and back.

// x without its fraction; out of range it saturates to -2^31 or 2^31 - 1, NaN gives 0.
// Exact in range, where it equals C and NumPy.
// Exact for every f32; saturates, NaN gives 0.
fn i32_from_f32(x: f32) -> i32 {
    let magnitude = magnitude_f32(x);
    let limit = select(2147483647, -2147483648, signbit_f32(x));
    let in_range = magnitude < 0x4f000000u;
    let value = select(limit, i32(select(0.0, x, in_range)), in_range);
    return select(value, 0, magnitude > 0x7f800000u);
}

// x without its fraction; negative values give 0, values from 2^32 on give 2^32 - 1,
// NaN gives 0. Exact in range, where it equals C and NumPy.
// Exact for every f32; saturates, NaN gives 0.
fn u32_from_f32(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let in_range = bits < 0x4f800000u;
    let value = select(0xffffffffu, u32(select(0.0, x, in_range)), in_range);
    return select(value, 0u, bits > 0x7f800000u);
}

// The f32 nearest to n. WGSL lets f32(n) round either way, and SwiftShader cuts a u32;
// both halves are exact here and their sum is rounded once.
// Within 0.5 ULP for every i32.
fn f32_from_i32(n: i32) -> f32 {
    return f32(n >> 16u) * 65536.0 + f32(n & 0xffff);
}

// The f32 nearest to n, as above.
// Within 0.5 ULP for every u32.
fn f32_from_u32(n: u32) -> f32 {
    return f32(n >> 16u) * 65536.0 + f32(n & 0xffffu);
}
