// Unpacks small integers and bfloat16 from words of a storage, and packs them into words.

// Element `index` of a storage, which lies in this word.
fn uint8_of(word: u32, index: u32) -> u32 {
    return (word >> (8u * (index & 3u))) & 0xffu;
}

// Element `index` of a storage, which lies in this word; its sign is extended.
fn int8_of(word: u32, index: u32) -> i32 {
    return bitcast<i32>(word << (24u - 8u * (index & 3u))) >> 24u;
}

// Element `index` of a storage, which lies in this word.
fn uint16_of(word: u32, index: u32) -> u32 {
    return (word >> (16u * (index & 1u))) & 0xffffu;
}

// Element `index` of a storage, which lies in this word; its sign is extended.
fn int16_of(word: u32, index: u32) -> i32 {
    return bitcast<i32>(word << (16u - 16u * (index & 1u))) >> 16u;
}

// The four elements of a word.
fn uint8_vector(word: u32) -> vec4<u32> {
    return vec4<u32>(word, word >> 8u, word >> 16u, word >> 24u) & vec4<u32>(0xffu);
}

// The four elements of a word, with their signs extended.
fn int8_vector(word: u32) -> vec4<i32> {
    let high = vec4<u32>(word << 24u, word << 16u, word << 8u, word);
    return bitcast<vec4<i32>>(high) >> vec4<u32>(24u);
}

// The four elements of two words.
fn uint16_vector(first: u32, second: u32) -> vec4<u32> {
    let low = vec4<u32>(first, first >> 16u, second, second >> 16u);
    return low & vec4<u32>(0xffffu);
}

// The four elements of two words, with their signs extended.
fn int16_vector(first: u32, second: u32) -> vec4<i32> {
    let high = vec4<u32>(first << 16u, first, second << 16u, second);
    return bitcast<vec4<i32>>(high) >> vec4<u32>(16u);
}

// The lowest bytes of four numbers.
fn word_of_bytes(a: u32, b: u32, c: u32, d: u32) -> u32 {
    return (a & 0xffu) | ((b & 0xffu) << 8u) | ((c & 0xffu) << 16u) | (d << 24u);
}

// The lower halves of two numbers.
fn word_of_halves(a: u32, b: u32) -> u32 {
    return (a & 0xffffu) | (b << 16u);
}

// Element `index` of a storage, which lies in this word: the upper half of an f32.
fn bfloat16_of(word: u32, index: u32) -> f32 {
    return bitcast<f32>((word << (16u - 16u * (index & 1u))) & 0xffff0000u);
}

// The four elements of two words.
fn bfloat16_vector(first: u32, second: u32) -> vec4<f32> {
    let high = vec4<u32>(first << 16u, first, second << 16u, second);
    return bitcast<vec4<f32>>(high & vec4<u32>(0xffff0000u));
}

// The bits of the bfloat16 nearest to x, halves to even; NaN stays NaN.
fn bfloat16_bits(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let rounded = bits + 0x7fffu + ((bits >> 16u) & 1u);
    let is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return select(rounded, bits | 0x400000u, is_nan) >> 16u;
}

// The bfloat16 nearest to x, held in an f32.
fn rounded_to_bfloat16(x: f32) -> f32 {
    return bitcast<f32>(bfloat16_bits(x) << 16u);
}

// The bfloat16 nearest to n, held in an f32. Of a large n, whose f32 would be rounded
// too, one bit that bfloat16 does not have stands for all lower ones.
fn bfloat16_from_i32(n: i32) -> f32 {
    let odd = (n & -256) | select(0, 256, (n & 255) != 0);
    let is_large = bitcast<u32>(n) + 0x1000000u > 0x2000000u;
    return rounded_to_bfloat16(f32_from_i32(select(n, odd, is_large)));
}

// The bfloat16 nearest to n, as above.
fn bfloat16_from_u32(n: u32) -> f32 {
    let odd = (n & 0xffffff00u) | select(0u, 256u, (n & 255u) != 0u);
    return rounded_to_bfloat16(f32_from_u32(select(n, odd, n > 0x1000000u)));
}

// The bfloat16 nearest to two numbers.
fn word_of_bfloat16(a: f32, b: f32) -> u32 {
    return bfloat16_bits(a) | (bfloat16_bits(b) << 16u);
}

// The bfloat16 next to x on the way to `toward`, both held in f32. The f32 next to x
// lies one bit below or above.
// Exact for every pair of bfloat16.
fn nextafter_bfloat16(x: f32, toward: f32) -> f32 {
    let next = nextafter_f32(x, toward);
    let bits = bitcast<u32>(next);
    let carry = select(0u, 0xffffu, (bits & 0xffffu) == 1u);
    return nan_where_f32(is_nan_f32(next), bitcast<f32>((bits + carry) & 0xffff0000u));
}
