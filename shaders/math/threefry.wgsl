// Random words by counting: threefry2x32 with 20 rounds. A round adds, rotates and takes
// the exclusive or; every fourth is followed by words of the key. Salmon, Moraes, Dror and
// Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.

// Rounds 1 to 4 of 8: rotations by 13, 15, 26 and 6 bits.
fn threefry_first_rounds(a: u32, b: u32) -> vec2u {
    let a1 = a + b;
    let b1 = ((b << 13u) | (b >> 19u)) ^ a1;
    let a2 = a1 + b1;
    let b2 = ((b1 << 15u) | (b1 >> 17u)) ^ a2;
    let a3 = a2 + b2;
    let b3 = ((b2 << 26u) | (b2 >> 6u)) ^ a3;
    let a4 = a3 + b3;
    let b4 = ((b3 << 6u) | (b3 >> 26u)) ^ a4;
    return vec2u(a4, b4);
}

// Rounds 5 to 8 of 8: rotations by 17, 29, 16 and 24 bits.
fn threefry_second_rounds(a: u32, b: u32) -> vec2u {
    let a1 = a + b;
    let b1 = ((b << 17u) | (b >> 15u)) ^ a1;
    let a2 = a1 + b1;
    let b2 = ((b1 << 29u) | (b1 >> 3u)) ^ a2;
    let a3 = a2 + b2;
    let b3 = ((b2 << 16u) | (b2 >> 16u)) ^ a3;
    let a4 = a3 + b3;
    let b4 = ((b3 << 24u) | (b3 >> 8u)) ^ a4;
    return vec2u(a4, b4);
}

// Both words of the block (0, counter) under a key of two words.
fn threefry_block(high: u32, low: u32, counter: u32) -> vec2u {
    let parity = high ^ low ^ 0x1bd11bdau;
    let x1 = threefry_first_rounds(high, counter + low);
    let x2 = threefry_second_rounds(x1.x + low, x1.y + parity + 1u);
    let x3 = threefry_first_rounds(x2.x + parity, x2.y + high + 2u);
    let x4 = threefry_second_rounds(x3.x + high, x3.y + low + 3u);
    let x5 = threefry_first_rounds(x4.x + low, x4.y + parity + 4u);
    return vec2u(x5.x + parity, x5.y + high + 5u);
}

// The exclusive or of both words of a block.
// Exact for every triple of u32.
fn threefry_u32(high: u32, low: u32, counter: u32) -> u32 {
    let block = threefry_block(high, low, counter);
    return block.x ^ block.y;
}

// The first word of a block.
// Exact for every triple of u32.
fn threefry_first_u32(high: u32, low: u32, counter: u32) -> u32 {
    let block = threefry_block(high, low, counter);
    return block.x;
}
