// Compares f32 values on their bits: right for NaN, infinities, -0 and subnormals.

// An integer that is ordered like x; both zeros give 0 and NaN lies outside
// [-0x7f800000, 0x7f800000]. Exact.
fn order_f32(x: f32) -> i32 {
    let magnitude = i32(magnitude_f32(x));
    return select(magnitude, -magnitude, signbit_f32(x));
}

// A number from 0 for -infinity to 0xff000000 for infinity that is ordered like x; both
// zeros have the same, every NaN a larger one. Exact.
fn rank_f32(x: f32) -> u32 {
    let bits = bitcast<i32>(x);
    let sign = bits >> 31u;
    return bitcast<u32>(((bits & 0x7fffffff) ^ sign) - sign + 0x7f800000);
}

// True when x and y can be ordered, that is when neither is NaN. Exact.
fn is_ordered_f32(x: f32, y: f32) -> bool {
    return max(magnitude_f32(x), magnitude_f32(y)) <= 0x7f800000u;
}

// x < y; false when either is NaN: x is below nothing then, or y too large.
// Exact for every pair of f32.
fn less_f32(x: f32, y: f32) -> bool {
    let right = rank_f32(y);
    return (rank_f32(x) < right) & (right <= 0xff000000u);
}

// x <= y; false when either is NaN.
// Exact for every pair of f32.
fn less_equal_f32(x: f32, y: f32) -> bool {
    let right = rank_f32(y);
    return (rank_f32(x) <= right) & (right <= 0xff000000u);
}

// x > y; false when either is NaN.
// Exact for every pair of f32.
fn greater_f32(x: f32, y: f32) -> bool {
    return less_f32(y, x);
}

// x >= y; false when either is NaN.
// Exact for every pair of f32.
fn greater_equal_f32(x: f32, y: f32) -> bool {
    return less_equal_f32(y, x);
}

// x == y, with -0 == +0; false when either is NaN.
// Exact for every pair of f32.
fn equal_f32(x: f32, y: f32) -> bool {
    let right = rank_f32(y);
    return (rank_f32(x) == right) & (right <= 0xff000000u);
}

// x != y, with -0 == +0; true when either is NaN.
// Exact for every pair of f32.
fn not_equal_f32(x: f32, y: f32) -> bool {
    return !equal_f32(x, y);
}

// The smaller value, NaN when either is NaN; also the combiner of a min reduction.
// Exact for every pair of f32; of two zeros either, subnormals may be flushed to zero.
fn minimum_f32(x: f32, y: f32) -> f32 {
    return nan_where_f32(!is_ordered_f32(x, y), min(x, y));
}

// The larger value, NaN when either is NaN; also the combiner of a max reduction.
// Exact for every pair of f32; of two zeros either, subnormals may be flushed to zero.
fn maximum_f32(x: f32, y: f32) -> f32 {
    return nan_where_f32(!is_ordered_f32(x, y), max(x, y));
}

// The largest of x and four more, NaN when one of them is NaN: NaN is looked for once.
// Exact; of two zeros either may be returned, subnormals may be flushed.
fn largest_f32(x: f32, y: vec4<f32>) -> f32 {
    let sizes = bitcast<vec4<u32>>(y) & vec4<u32>(0x7fffffffu);
    let pair = max(sizes.xy, sizes.zw);
    let size = max(max(pair.x, pair.y), magnitude_f32(x));
    let best = max(y.xy, y.zw);
    return nan_where_f32(size > 0x7f800000u, max(max(best.x, best.y), x));
}

// The smallest of x and four more, in the same way.
fn smallest_f32(x: f32, y: vec4<f32>) -> f32 {
    let sizes = bitcast<vec4<u32>>(y) & vec4<u32>(0x7fffffffu);
    let pair = max(sizes.xy, sizes.zw);
    let size = max(max(pair.x, pair.y), magnitude_f32(x));
    let best = min(y.xy, y.zw);
    return nan_where_f32(size > 0x7f800000u, min(min(best.x, best.y), x));
}
