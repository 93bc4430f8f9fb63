// Alternatives for slots of `scatter_runs.wgsl`, `scatter_rows.wgsl` and
// `scatter_edges.wgsl`.

// slot key_of_elements: the index of a sorted element or row
fn key(index: u32) -> u32 {
  return keys[index];
}
// end key_of_elements

// slot key_of_edges: the index of the first or the last run of a block
fn key(index: u32) -> u32 {
  let first = index / 2u * parameters.span;
  if (index % 2u == 0u) {
    return keys[first];
  }
  return keys[min(first + parameters.span, parameters.writes) - 1u];
}
// end key_of_edges

// slot term_of_words: an element that was sorted with its index
fn term(index: u32) -> Value {
  return bitcast<Value>(terms[index]);
}
// end term_of_words

// slot term_of_edges: the total of an edge
fn term(index: u32) -> Value {
  return terms[index];
}
// end term_of_edges

// slot row_of_order: a row at its sorted index
fn term(row: u32, column: u32) -> Value {
  return written(order[row], column);
}
// end row_of_order

// slot row_of_edges: the totals of an edge
fn term(row: u32, column: u32) -> Value {
  return terms[row * parameters.width + column];
}
// end row_of_edges
