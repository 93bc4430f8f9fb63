// Functions that the templates of factorizations call.

// slot nan_if: NaN where a result does not exist
fn nan_if(is_bad: bool, value: f32) -> f32 {
  return nan_where_f32(is_bad, value);
}
// end nan_if

// slot is_nan: whether a value is NaN
fn is_nan(value: f32) -> bool {
  return isnan_f32(value);
}
// end is_nan
