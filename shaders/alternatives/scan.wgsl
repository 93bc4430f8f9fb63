// Alternatives for slots of `scan.wgsl` and `scan_totals.wgsl`.

// slot term_of_buffer: a term of an earlier launch
fn term(row: u32, position: u32) -> Value {
  return terms[row * parameters.length + position];
}
// end term_of_buffer

// slot quad_of_terms: quad(): four terms, one by one
fn term_or_identity(row: u32, position: u32) -> Value {
  if (row < parameters.rows && position < parameters.length) {
    return term(row, position);
  }
  return parameters.identity;
}
fn quad(row: u32, position: u32) -> Value4 {
  return Value4(
    term_or_identity(row, position),
    term_or_identity(row, position + 1u),
    term_or_identity(row, position + 2u),
    term_or_identity(row, position + 3u),
  );
}
// end quad_of_terms

// slot quad_in_loop: the same, with the text of a term once
fn quad(row: u32, position: u32) -> Value4 {
  var terms: array<Value, 4>;
  for (var i = 0u; i < 4u; i++) {
    terms[i] = parameters.identity;
    if (row < parameters.rows && position + i < parameters.length) {
      terms[i] = term(row, position + i);
    }
  }
  return Value4(terms[0], terms[1], terms[2], terms[3]);
}
// end quad_in_loop

// slot quad_of_vectors: quad(): a vector of terms
fn quad(row: u32, position: u32) -> Value4 {
  if (row < parameters.rows && position < parameters.length) {
    return term(row, position / 4u);
  }
  return Value4(parameters.identity);
}
// end quad_of_vectors

// slot nothing_before: before_block() of rows of one block
fn before_block(row: u32, block: u32) -> Value {
  return parameters.identity;
}
// end nothing_before

// slot blocks_before: before_block() of many blocks, from their running totals
fn before_block(row: u32, block: u32) -> Value {
  if (row < parameters.rows && block > 0u) {
    return running_totals[row * parameters.blocks + block - 1u];
  }
  return parameters.identity;
}
// end blocks_before

// slot few_blocks_before: before_block() of few blocks, from their totals
fn before_block(row: u32, block: u32) -> Value {
  var before = parameters.identity;
  if (row < parameters.rows) {
    for (var i = 0u; i < block; i++) {
      before = combine(before, block_totals[row * parameters.blocks + i]);
    }
  }
  return before;
}
// end few_blocks_before

// slot store_elements: store_quad() of four elements
fn store(row: u32, position: u32, total: Value) {
  if (row < parameters.rows && position < parameters.length) {
    result[row * parameters.length + position] = Element(total);
  }
}
fn store_quad(row: u32, position: u32, totals: Value4) {
  store(row, position, totals.x);
  store(row, position + 1u, totals.y);
  store(row, position + 2u, totals.z);
  store(row, position + 3u, totals.w);
}
// end store_elements

// slot store_vectors: store_quad() of a vector
fn store_quad(row: u32, position: u32, totals: Value4) {
  if (row < parameters.rows && position < parameters.length) {
    result[(row * parameters.length + position) / 4u] = vec4<Element>(totals);
  }
}
// end store_vectors

// slot quads: the terms of a thread
  let quad0 = quad(row, position);
  let quad1 = quad(row, position + 4u * THREADS);
  let quad2 = quad(row, position + 8u * THREADS);
  let quad3 = quad(row, position + 12u * THREADS);
// end quads

// slot quads_in_loop: the same, with the text of a vector once
  var quads: array<Value4, 4>;
  for (var i = 0u; i < 4u; i++) {
    quads[i] = quad(row, position + i * 4u * THREADS);
  }
  let quad0 = quads[0];
  let quad1 = quads[1];
  let quad2 = quads[2];
  let quad3 = quads[3];
// end quads_in_loop
