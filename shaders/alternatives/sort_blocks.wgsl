// Alternatives for slots of `sort_blocks.wgsl`.

// slot counted_before: elements with the same digit in earlier blocks
fn counted_before(row: u32, digit: u32, block: u32) -> u32 {
  let count = digit * parameters.blocks + block;
  if (row >= parameters.rows || count == 0u) {
    return 0u;
  }
  return running_counts[row * parameters.blocks * 256u + count - 1u];
}
// end counted_before

// slot nothing_before: of rows of one block
fn counted_before(row: u32, digit: u32, block: u32) -> u32 {
  return 0u;
}
// end nothing_before
