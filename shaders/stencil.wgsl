// Stencils: one thread computes one element in each of several neighbouring rows.
//
// An element that several results need is read once. Neighbouring threads read neighbouring
// columns; the last threads of a matrix start early enough to end at its last row.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
  stride0: i32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result0: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: store(index), which stores the elements of thread `index`
fn store(index: u32) {
  let above = input0[index];
  let here = input0[index + 4u];
  let below = input0[index + 8u];
  result0[index] = above + here;
  result0[index + 4u] = here + below;
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
