// Alternatives for slots of `scatter_tables.wgsl`.

// slot sorted_elements: elements sorted by their index
fn position_of(index: u32) -> u32 {
  return keys[index];
}
fn bits_of(index: u32) -> u32 {
  return words[index];
}
// end sorted_elements

// slot elements_in_order: elements in the order of the input
fn position_of(index: u32) -> u32 {
  return position(0u, index);
}
fn bits_of(index: u32) -> u32 {
  return written(0u, index);
}
// end elements_in_order
