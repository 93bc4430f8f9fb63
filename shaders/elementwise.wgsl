// Elementwise kernels: one thread computes one element of the result.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: value(index), element `index` of the result
fn value(index: u32) -> f32 {
  return input0[index];
}
// end functions

// Grids above 65,535 groups are folded into rows of `groups.x`.
@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if (index < parameters.length) {
    result[index] = value(index);
  }
}
