// Integer arithmetic with NumPy's results where WGSL differs or leaves them open.

// -x, wrapping. The parameter is 0, which no compiler knows: NVIDIA's for Vulkan (580.159)
// loses negations that it sees in front of nested minima and maxima, so that
// max(max(-a, -b), c) is wrong; also those written 0 - x, ~x + 1 and x * -1.
// Exact for every i32.
fn negative_i32(x: i32) -> i32 {
    return bitcast<i32>(parameters.zero) - x;
}

// |x|, wrapping: |-2^31| is -2^31. Tint makes max(x, -x) of WGSL's abs, of which the
// same compiler loses the negation.
// Exact for every i32.
fn abs_i32(x: i32) -> i32 {
    let sign = x >> 31u;
    return (x ^ sign) - sign;
}

// -1, 0 or 1.
// Exact for every i32.
fn sign_i32(x: i32) -> i32 {
    return sign(x);
}

// 0 or 1.
// Exact for every u32.
fn sign_u32(x: u32) -> u32 {
    return min(x, 1u);
}

// floor(x / y); 0 for y = 0, and -2^31 / -1 wraps to -2^31.
// Exact for every pair of i32.
fn floor_divide_i32(x: i32, y: i32) -> i32 {
    let divisor = select(y, 1, (y == 0) | (y == -1));
    let quotient = x / divisor;
    let is_inexact = quotient * divisor != x;
    let floored = quotient - select(0, 1, is_inexact & ((x ^ divisor) < 0));
    return select(select(floored, -x, y == -1), 0, y == 0);
}

// floor(x / y); 0 for y = 0.
// Exact for every pair of u32.
fn floor_divide_u32(x: u32, y: u32) -> u32 {
    return select(x / max(y, 1u), 0u, y == 0u);
}

// x - y floor(x / y), with the sign of y; 0 for y = 0.
// Exact for every pair of i32.
fn remainder_i32(x: i32, y: i32) -> i32 {
    let divisor = select(y, 1, (y == 0) | (y == -1));
    let rest = x - (x / divisor) * divisor;
    return select(rest, rest + divisor, (rest != 0) & ((rest ^ divisor) < 0));
}

// x - y floor(x / y); 0 for y = 0.
// Exact for every pair of u32.
fn remainder_u32(x: u32, y: u32) -> u32 {
    return select(x % max(y, 1u), 0u, y == 0u);
}

// base^exponent modulo 2^32 by repeated squaring, at most 32 steps.
// Exact for every pair of u32, modulo 2^32.
fn pow_u32(base: u32, exponent: u32) -> u32 {
    var product = 1u;
    var square = base;
    for (var rest = exponent; rest != 0u; rest >>= 1u) {
        product *= select(1u, square, (rest & 1u) == 1u);
        square *= square;
    }
    return product;
}

// base^exponent modulo 2^32; a negative exponent gives the real result cut towards
// zero, which is 0 unless base is 1 or -1.
// Exact for every pair of i32, modulo 2^32; negative exponents cut towards zero.
fn pow_i32(base: i32, exponent: i32) -> i32 {
    let power = bitcast<i32>(pow_u32(bitcast<u32>(base), bitcast<u32>(exponent)));
    return select(power, 0, (exponent < 0) & (base != 1) & (base != -1));
}

// x 2^count modulo 2^32; 0 when count is 32 or more.
// Exact for every pair of u32.
fn left_shift_u32(x: u32, count: u32) -> u32 {
    return select(0u, x << (count & 31u), count < 32u);
}

// x 2^count modulo 2^32; 0 when count is negative, or 32 and more.
// Exact for every pair of i32.
fn left_shift_i32(x: i32, count: i32) -> i32 {
    return bitcast<i32>(left_shift_u32(bitcast<u32>(x), bitcast<u32>(count)));
}

// floor(x / 2^count); 0 when count is 32 or more.
// Exact for every pair of u32.
fn right_shift_u32(x: u32, count: u32) -> u32 {
    return select(0u, x >> (count & 31u), count < 32u);
}

// floor(x / 2^count); 0 or -1, by the sign of x, when count is negative, or 32 and
// more.
// Exact for every pair of i32.
fn right_shift_i32(x: i32, count: i32) -> i32 {
    return x >> min(bitcast<u32>(count), 31u);
}
