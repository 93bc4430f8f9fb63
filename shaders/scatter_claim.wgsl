// Writes at indices, first launch: the last write to each element claims it.
//
// `winner` starts as zeros; a claim is the index of the write plus one. The largest claim
// is the last write, so that the result does not depend on the order of threads.

// slot declarations: parameters and storages
struct Parameters {
  writes: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<i32>;
@group(0) @binding(1) var<storage, read_write> winner: array<atomic<u32>>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: position(index), the target of write `index`
fn position(index: u32) -> i32 {
  return input0[index];
}
// end functions

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if (index < parameters.writes) {
    atomicMax(&winner[position(index)], index + 1u);
  }
}
