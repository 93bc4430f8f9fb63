// Unpacks small integers from words of a storage, and packs them into words.

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
