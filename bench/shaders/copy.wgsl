// Copies 16 bytes a thread: the most that memory can move.

@group(0) @binding(0) var<storage, read> original: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> copied: array<vec4f>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let place = (group.y * groups.x + group.x) * 256u + thread;
  if place < arrayLength(&copied) {
    copied[place] = original[place];
  }
}
