// Accumulation independent of order: every update is one atomic operation.
//
// Integer sums wrap around and extremes are compared as ordered bits, so that the totals
// do not depend on the order of threads. Totals start as zeros.

// slot declarations: parameters and storages
struct Parameters {
  updates: u32,
  width: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<i32>;
@group(0) @binding(1) var<storage, read> input1: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: row_of(write), bits_of(write, column) and join(at, bits)
fn row_of(write: u32) -> u32 {
  return u32(input0[write]);
}
fn bits_of(write: u32, column: u32) -> u32 {
  return input1[write * parameters.width + column];
}
fn join(at: u32, bits: u32) {
  atomicAdd(&totals[at], bits);
}
// end functions

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if (index < parameters.updates) {
    let write = index / parameters.width;
    let column = index % parameters.width;
    join(row_of(write) * parameters.width + column, bits_of(write, column));
  }
}
