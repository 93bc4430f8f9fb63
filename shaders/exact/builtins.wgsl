// Functions of WGSL that no operation has, for kernels of a program's own on the CPU.

fn degrees_f32(x: f32) -> f32 {
    return x * 57.29577951308232;
}

fn fract_f32(x: f32) -> f32 {
    return x - floor(x);
}

fn inverseSqrt_f32(x: f32) -> f32 {
    return 1.0 / sqrt(x);
}

fn mix_f32(a: f32, b: f32, t: f32) -> f32 {
    return a * (1.0 - t) + b * t;
}

fn radians_f32(x: f32) -> f32 {
    return x * 0.017453292519943295;
}

fn saturate_f32(x: f32) -> f32 {
    return min(max(x, 0.0), 1.0);
}

fn smoothstep_f32(low: f32, high: f32, x: f32) -> f32 {
    let t = min(max((x - low) / (high - low), 0.0), 1.0);
    return t * t * (3.0 - 2.0 * t);
}

fn step_f32(edge: f32, x: f32) -> f32 {
    return select(0.0, 1.0, edge <= x);
}
