// Radix sort of long rows, first launch of a pass: the count of each digit in each block.
//
// A block is 2048 elements of a row, a digit eight bits of the key. The counts have the
// shape (row, digit, block): their scan gives the position of each block's digits.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  blocks: u32,
  flip: u32,
  shift: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: bits_of(row, position) and key(bits)
fn bits_of(row: u32, position: u32) -> u32 {
  return bitcast<u32>(input0[row * parameters.length + position]);
}
fn key(bits: u32) -> u32 {
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u) ^ parameters.flip;
}
// end functions

const BLOCK: u32 = 2048u;

var<workgroup> digit_counts: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;
  let row = index / parameters.blocks;
  let block = index % parameters.blocks;
  atomicStore(&digit_counts[lane], 0u);
  workgroupBarrier();
  // All elements are loaded before the first is counted.
  var count = 0u;
  if (row < parameters.rows) {
    count = min(parameters.length - block * BLOCK, BLOCK);
  }
  var bits: array<u32, 8>;
  // unroll
  for (var i = 0u; i < 8u; i++) {
    if (i * 256u + lane < count) {
      bits[i] = bits_of(row, block * BLOCK + i * 256u + lane);
    }
  }
  // unroll
  for (var i = 0u; i < 8u; i++) {
    if (i * 256u + lane < count) {
      let digit = (key(bits[i]) >> parameters.shift) & 255u;
      atomicAdd(&digit_counts[digit], 1u);
    }
  }
  workgroupBarrier();
  if (row < parameters.rows) {
    counts[(row * 256u + lane) * parameters.blocks + block] =
      atomicLoad(&digit_counts[lane]);
  }
}
