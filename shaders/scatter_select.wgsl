// Writes at indices, last launch: each element takes the value of its winner, if any.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read> winner: array<u32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: original(index) and written(index)
fn original(index: u32) -> f32 {
  return input0[index];
}
fn written(index: u32) -> f32 {
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
  if (index < parameters.length) {
    let claim = winner[index];
    if (claim > 0u) {
      result[index] = written(claim - 1u);
    } else {
      result[index] = original(index);
    }
  }
}
