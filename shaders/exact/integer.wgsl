// Integers, for machines whose compilers keep what is written.

// -x, wrapping. Exact.
fn negative_i32(x: i32) -> i32 {
    return -x;
}

// |x|, wrapping. Exact.
fn abs_i32(x: i32) -> i32 {
    return abs(x);
}
