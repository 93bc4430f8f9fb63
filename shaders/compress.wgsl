// Indices at which a mask is true: element i stores i at the position given by its running count.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<u32>;
@group(0) @binding(1) var<storage, read> input1: array<i32>;
@group(0) @binding(2) var<storage, read_write> result: array<i32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: mask(index) and running(index), the inclusive count of true elements
fn mask(index: u32) -> bool {
  return input0[index] != 0u;
}
fn running(index: u32) -> i32 {
  return input1[index];
}
// end functions

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if (index < parameters.length && mask(index)) {
    result[u32(running(index) - 1)] = i32(index);
  }
}
