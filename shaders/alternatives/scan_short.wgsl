// Alternatives for slots of `scan_short.wgsl`.

// slot terms: a thread's terms of four rows, in a loop
  for (var i = 0u; i < 4u; i++) {
    let row = own_row + i * rows_apart;
    own[i] = parameters.identity;
    if (row < parameters.rows && position < parameters.length) {
      own[i] = term(row, position);
    }
    totals[i * 256u + lane] = own[i];
  }
// end terms
