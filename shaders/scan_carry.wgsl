// Running totals of rows, last pass: every block takes what came before it in its row.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
  blocks: u32,
  count: u32,
}
@group(0) @binding(0) var<storage, read> running_totals: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value and combine()
alias Value = f32;
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
// end functions

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  if (index < parameters.count) {
    let row = index / parameters.length;
    let block = (index % parameters.length) / 1024u;
    if (block > 0u) {
      let before = running_totals[row * parameters.blocks + block - 1u];
      result[index] = combine(before, result[index]);
    }
  }
}
