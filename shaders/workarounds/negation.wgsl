// Negation of integers, where a compiler loses that of shaders/math/integer.wgsl.

fn negative_i32(x: i32) -> i32 {
    return x * ~bitcast<i32>(parameters.zero);
}

fn abs_i32(x: i32) -> i32 {
    return select(x, x * ~bitcast<i32>(parameters.zero), x < 0);
}
