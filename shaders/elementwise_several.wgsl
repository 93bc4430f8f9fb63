// Elementwise kernels with several results: one thread computes one element of each result.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result0: array<f32>;
@group(0) @binding(2) var<storage, read_write> result1: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: store(index), which stores element `index` of each result
fn store(index: u32) {
  let v0 = input0[index];
  result0[index] = v0;
  result1[index] = v0 * v0;
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
    store(index);
  }
}
