// Divides f32 values with IEEE specials; quotient, remainder and floor as in NumPy.

// x / y for |x| and |y| in [2^-50, 2^50]: the adapter's quotient and one Newton step on
// its remainder. Max error 0.51 ULP where fma is one rounding, as on GPUs, and 0.76 where
// it is two; exact when the quotient is an f32.
fn quotient_f32(x: f32, y: f32) -> f32 {
    let inverse = 1.0 / y;
    let estimate = x / y;
    let rest = fma(-estimate, y, x);
    return fma(rest, inverse, estimate);
}

// The exponent field of the normalised |x|, given as bits; zero and below if subnormal.
fn exponent_field_f32(magnitude: u32) -> i32 {
    let shift = countLeadingZeros(magnitude) - 8u;
    return select(i32(magnitude >> 23u), 1 - i32(shift), magnitude < 0x00800000u);
}

// The mantissa of |x|, given as bits, in [1, 2); subnormals are normalised.
fn mantissa_f32(magnitude: u32) -> f32 {
    let shift = countLeadingZeros(magnitude) - 8u;
    let bits = select(magnitude, magnitude << (shift & 31u), magnitude < 0x00800000u);
    return bitcast<f32>((bits & 0x007fffffu) | 0x3f800000u);
}

// x / y for any operands: quotient of the mantissas, difference of the exponents,
// then the specials. Max error 0.76 ULP, subnormal results are flushed to zero.
fn divide_scaled_f32(x: f32, y: f32) -> f32 {
    let x_size = magnitude_f32(x);
    let y_size = magnitude_f32(y);
    let quotient = quotient_f32(mantissa_f32(x_size), mantissa_f32(y_size));
    let mantissa = bitcast<u32>(quotient);
    let scale = exponent_field_f32(x_size) - exponent_field_f32(y_size);
    let field = i32(mantissa >> 23u) + scale;
    var bits = mantissa + (bitcast<u32>(scale) << 23u);
    bits = select(bits, 0u, (field < 1) | (x_size == 0u) | (y_size == 0x7f800000u));
    let is_infinite = (x_size == 0x7f800000u) | (y_size == 0u);
    let is_large = (field > 254) & (x_size != 0u) & (y_size != 0x7f800000u);
    bits = select(bits, 0x7f800000u, is_infinite | is_large);
    let invalid = (x_size > 0x7f800000u) | (y_size > 0x7f800000u)
        | ((x_size == 0u) & (y_size == 0u))
        | ((x_size == 0x7f800000u) & (y_size == 0x7f800000u));
    let sign = sign_bits_f32(x) ^ sign_bits_f32(y);
    return nan_where_f32(invalid, bitcast<f32>(bits | sign));
}

// x / y; x/0 is an infinity, 0/0 and inf/inf are NaN. Exact when the quotient is an
// f32. It is computed before the choice, so that 1 / y is shared by a row's elements.
// Zeros, which masked rows are full of, need no scaling.
// Within 0.76 ULP for every pair of f32; subnormal results are flushed to zero.
fn divide_f32(x: f32, y: f32) -> f32 {
    let quotient = quotient_f32(x, y);
    let x_is_far = magnitude_f32(x) - 0x26800000u >= 0x32800000u;
    let y_is_far = magnitude_f32(y) - 0x26800000u >= 0x32800000u;
    if (x_is_far | y_is_far) {
        if ((magnitude_f32(x) == 0u) & !y_is_far) {
            return bitcast<f32>(sign_bits_f32(x) ^ sign_bits_f32(y));
        }
        return divide_scaled_f32(x, y);
    }
    return quotient;
}

// 1 / x, with the error and the specials of divide_f32.
// Within 0.76 ULP for every f32; subnormal results are flushed to zero.
fn reciprocal_f32(x: f32) -> f32 {
    return divide_f32(1.0, x);
}

// The significand of |x|, given as bits, as an integer below 2^24.
fn significand_f32(magnitude: u32) -> u32 {
    let hidden = select(0x00800000u, 0u, magnitude < 0x00800000u);
    return (magnitude & 0x007fffffu) | hidden;
}

// The remainder of x / y with the sign of x, as C's fmod; NaN for y = 0 or infinite x.
// Exact, subnormals included: long division of the significands, 8 bits at a time.
// Exact for every pair of f32.
fn fmod_f32(x: f32, y: f32) -> f32 {
    let x_size = magnitude_f32(x);
    let y_size = magnitude_f32(y);
    if ((x_size >= 0x7f800000u) | (y_size > 0x7f800000u) | (y_size == 0u)) {
        return nan_f32();
    }
    if (x_size < y_size) {
        return x;
    }
    let y_field = max(y_size >> 23u, 1u);
    let divisor = significand_f32(y_size);
    var rest = significand_f32(x_size) % divisor;
    var digits = max(x_size >> 23u, 1u) - y_field;
    while (digits > 0u) {
        let step = min(digits, 8u);
        rest = (rest << step) % divisor;
        digits -= step;
    }
    if (rest == 0u) {
        return bitcast<f32>(sign_bits_f32(x));
    }
    let shift = min(countLeadingZeros(rest) - 8u, y_field - 1u);
    let bits = (rest << shift) + ((y_field - shift - 1u) << 23u);
    return bitcast<f32>(bits | sign_bits_f32(x));
}

// x - y floor(x / y): the sign of y, also on a zero result; NaN for y = 0 or infinite
// x. The fmod is exact, moving it to the sign of y rounds once.
// Within 0.5 ULP for zero or |x|, |y| >= 2^-100, infinities, NaN; below it rounds off
// subnormals.
fn remainder_f32(x: f32, y: f32) -> f32 {
    let rest = fmod_f32(x, y);
    if (magnitude_f32(rest) == 0u) {
        return bitcast<f32>(sign_bits_f32(y));
    }
    if (is_nan_f32(rest) | (signbit_f32(rest) == signbit_f32(y))) {
        return rest;
    }
    let moved = select(bitcast<u32>(rest + y), bitcast<u32>(y), is_inf_f32(y));
    return bitcast<f32>(moved);
}

// floor(x / y); x/0 is an infinity or NaN, inf/y is an infinity and y/inf a zero. The rounded quotient is one
// too large in size when it is whole while the exact remainder is near y. Exact below
// 2^24.
// Within 2 ULP for zero or |x|, |y| >= 2^-100, infinities, NaN; exact for |result| <
// 2^24.
fn floor_divide_f32(x: f32, y: f32) -> f32 {
    let quotient = divide_f32(x, y);
    if ((magnitude_f32(y) == 0u) | is_inf_f32(y) | !is_finite_f32(quotient)) {
        return quotient;
    }
    let rest = abs_f32(fmod_f32(x, y));
    let size = abs_f32(quotient);
    var whole = trunc(size);
    whole -= select(0.0, 1.0, (whole == size) & (rest > 0.5 * abs_f32(y)));
    let sign = sign_bits_f32(quotient);
    whole += select(0.0, 1.0, (sign != 0u) & (magnitude_f32(rest) != 0u));
    return bitcast<f32>(bitcast<u32>(whole) | sign);
}
