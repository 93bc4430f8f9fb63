// Minima and maxima of floats by their bits, where a compiler loses NaN in WGSL's own.

fn minimum_f32(x: f32, y: f32) -> f32 {
    let less = select(bitcast<u32>(y), bitcast<u32>(x), rank_f32(x) < rank_f32(y));
    return nan_where_f32(!is_ordered_f32(x, y), bitcast<f32>(less));
}

fn maximum_f32(x: f32, y: f32) -> f32 {
    let more = select(bitcast<u32>(x), bitcast<u32>(y), rank_f32(x) < rank_f32(y));
    return nan_where_f32(!is_ordered_f32(x, y), bitcast<f32>(more));
}
