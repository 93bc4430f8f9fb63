// Alternatives for slots of `reduce.wgsl`.

// slot four_terms: four loads of a thread are in flight at once
    for (; position + 3u * LANES < end; position += 4u * LANES) {
      total = combine(total, term(output, position));
      total1 = combine(total1, term(output, position + LANES));
      total2 = combine(total2, term(output, position + 2u * LANES));
      total3 = combine(total3, term(output, position + 3u * LANES));
    }
// end four_terms

// Pairs of a key and an index, which argmax and argmin reduce to the largest key; of equal
// keys the first index wins. Keys are unsigned integers in the order of the elements, as
// in sorting: zeros of both signs are equal, NaN is above all other keys, and a comparison
// takes one instruction. `follow` assumes that `b` is after `a` and takes half the
// instructions.

// slot key_and_index: Value, identity(), combine() and follow()
struct Value {
  key: u32,
  index: u32,
}
fn identity() -> Value {
  return Value(0u, 0xffffffffu);
}
fn combine(a: Value, b: Value) -> Value {
  let is_later = (b.key > a.key) | ((b.key == a.key) & (b.index < a.index));
  return Value(select(a.key, b.key, is_later), select(a.index, b.index, is_later));
}
fn follow(a: Value, b: Value) -> Value {
  let is_larger = b.key > a.key;
  return Value(select(a.key, b.key, is_larger), select(a.index, b.index, is_larger));
}
// end key_and_index

// slot term_of_partials: a partial result of an earlier launch
fn term(output: u32, position: u32) -> Value {
  return partials[output * parameters.length + position];
}
// end term_of_partials

// slot store_partial: the total of a chunk
fn store(output: u32, chunk: u32, total: Value) {
  result[output * parameters.splits + chunk] = total;
}
// end store_partial

// slot parts_of_products: the sum of the parts of a matrix product with a split depth
fn identity() -> Value {
  return Value(0);
}
fn term(output: u32, position: u32) -> Value {
  let batch = output / parameters.area;
  let layer = batch * parameters.length + position;
  return partials[layer * parameters.area + output % parameters.area];
}
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
// end parts_of_products
