// Inverse trigonometric functions of f32.

// asin(s) for 0 <= s <= 1/2 with square = s^2, as s + s^3 p(s^2).
fn asin_small_f32(s: f32, square: f32) -> f32 {
    var p = fma(square, 4.2211797e-2, 2.4152093e-2);
    p = fma(p, square, 4.547604e-2);
    p = fma(p, square, 7.495252e-2);
    p = fma(p, square, 0.16666754);
    return fma(p * square, s, s);
}

// asin x; above 1/2 it is pi/2 - 2 asin(sqrt((1 - |x|) / 2)). NaN outside [-1, 1].
// Within 3 ULP for every f32; subnormal operands may count as zero.
fn asin_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let is_large = a > 0.5;
    let square = select(a * a, 0.5 - 0.5 * a, is_large);
    let s = select(a, sqrt(square), is_large);
    let angle = asin_small_f32(s, square);
    let complement = 1.57079637 - pinned_f32(fma(2.0, angle, 4.37113883e-8), x);
    let bits = bitcast<u32>(select(angle, complement, is_large)) | sign_bits_f32(x);
    return nan_where_f32(magnitude_f32(x) > 0x3f800000u, bitcast<f32>(bits));
}

// acos x: pi/2 - asin x up to 1/2, then 2 asin(sqrt((1 - |x|) / 2)), taken from pi for
// negative x. NaN outside [-1, 1].
// Within 2 ULP for every f32.
fn acos_f32(x: f32) -> f32 {
    let a = abs_f32(x);
    let is_large = a > 0.5;
    let square = select(a * a, 0.5 - 0.5 * a, is_large);
    let s = select(a, sqrt(square), is_large);
    let angle = asin_small_f32(s, square);
    let signed_angle = select(angle, -angle, signbit_f32(x));
    let near_zero = 1.57079637 - pinned_f32(signed_angle + 4.37113883e-8, x);
    let near_minus_one = 3.14159274 - pinned_f32(fma(2.0, angle, 8.74227766e-8), x);
    let near_one = select(2.0 * angle, near_minus_one, signbit_f32(x));
    let value = select(near_zero, near_one, is_large);
    return nan_where_f32(magnitude_f32(x) > 0x3f800000u, value);
}

// atan t for 0 <= t <= 1 as t + t^3 p(t^2). Max error 1 ULP.
fn atan_small_f32(t: f32) -> f32 {
    let square = t * t;
    var p = fma(square, -1.823116e-3, 1.1046255e-2);
    p = fma(p, square, -3.1422142e-2);
    p = fma(p, square, 5.8201257e-2);
    p = fma(p, square, -8.417543e-2);
    p = fma(p, square, 0.10956933);
    p = fma(p, square, -0.14265126);
    p = fma(p, square, 0.19998628);
    p = fma(p, square, -0.33333302);
    return fma(p * square, t, t);
}

// atan x; above 1 it is pi/2 - atan(1 / |x|).
// Within 2.5 ULP for every f32; subnormal operands may count as zero.
fn atan_f32(x: f32) -> f32 {
    let a = min(abs_f32(x), 1.0e30);
    let is_large = a > 1.0;
    let angle = atan_small_f32(select(a, 1.0 / max(a, 1.0), is_large));
    let complement = 1.57079637 - pinned_f32(angle + 4.37113883e-8, a);
    let value = select(angle, complement, is_large);
    let bits = bitcast<u32>(value) | sign_bits_f32(x);
    return nan_where_f32(is_nan_f32(x), bitcast<f32>(bits));
}

// The angle of the point (x, y) in [-pi, pi], all cases of signed zeros and infinities
// as in C99. The smaller coordinate over the larger, then octant by octant.
// Within 2.5 ULP for every pair of f32; subnormal operands and results may be flushed
// to zero.
fn atan2_f32(y: f32, x: f32) -> f32 {
    let x_size = magnitude_f32(x);
    let y_size = magnitude_f32(y);
    let is_steep = y_size > x_size;
    let smaller = min(x_size, y_size);
    let larger = max(x_size, y_size);
    let numerator = select(smaller, 0x3f800000u, smaller == 0x7f800000u);
    let replace = (larger == 0u) | (smaller == 0x7f800000u);
    let denominator = select(larger, 0x3f800000u, replace);
    let ratio = divide_f32(bitcast<f32>(numerator), bitcast<f32>(denominator));
    var angle = atan_small_f32(ratio);
    let complement = 1.57079637 - pinned_f32(angle + 4.37113883e-8, ratio);
    angle = select(angle, complement, is_steep);
    let supplement = 3.14159274 - pinned_f32(angle + 8.74227766e-8, ratio);
    angle = select(angle, supplement, signbit_f32(x));
    let bits = bitcast<u32>(angle) | sign_bits_f32(y);
    return nan_where_f32(!is_ordered_f32(x, y), bitcast<f32>(bits));
}
