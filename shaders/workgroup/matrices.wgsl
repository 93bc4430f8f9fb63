// Entry point of factorizations: each workgroup calls factor() for one matrix of the stack.

@compute @workgroup_size(LANES)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let matrix = group.y * groups.x + group.x;
  if (matrix < parameters.matrices) {
    factor(matrix, lane);
  }
}
