// Accumulation of the edges of blocks of sorted rows: one thread per column of a run.
//
// Edges are the totals of the first and the last run of each block, see scatter_rows.wgsl;
// edges of one key are adjacent. The thread of a run's first edge adds them sequentially;
// the threads of its other edges return.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
  width: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> terms: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, combine(), key(row), term(row, column), give(key, column, total)
alias Value = f32;
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
fn key(row: u32) -> u32 {
  return keys[row];
}
fn term(row: u32, column: u32) -> Value {
  return terms[row * parameters.width + column];
}
fn give(key: u32, column: u32, total: Value) {
  let at = key * parameters.width + column;
  result[at] = combine(result[at], total);
}
// end functions

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  let first = index / parameters.width;
  let column = index % parameters.width;
  if (first >= parameters.length) {
    return;
  }
  let run_key = key(first);
  if (first > 0u && key(first - 1u) == run_key) {
    return;
  }
  let last = parameters.length - 1u;
  var total = term(first, column);
  var is_run = true;
  for (var row = first + 1u; row <= last && is_run; row += 8u) {
    // Eight rows are loaded before the first is used.
    var keys_here: array<u32, 8>;
    var terms_here: array<Value, 8>;
    // unroll
    for (var i = 0u; i < 8u; i++) {
      keys_here[i] = key(min(row + i, last));
      terms_here[i] = term(min(row + i, last), column);
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      is_run = is_run && row + i <= last && keys_here[i] == run_key;
      if (is_run) {
        total = combine(total, terms_here[i]);
      }
    }
  }
  give(run_key, column, total);
}
