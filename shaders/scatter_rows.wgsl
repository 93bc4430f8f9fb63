// Accumulating sorted rows: each thread walks down one column of a block of rows.
//
// A block is BLOCK rows; a run is rows of one key, the row of the result they belong to.
// Runs inside a block go there. The first and the last run may go on in other blocks:
// their totals are left as two rows for the next launch, whose rows they are.
// `lanes` columns of a block share a workgroup with as many columns of other blocks.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
  width: u32,
  lanes: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
@group(0) @binding(4) var<storage, read_write> edges: array<f32>;
@group(0) @binding(5) var<uniform> parameters: Parameters;
// end declarations

// slot functions: BLOCK, Value, combine(), key(row), term(row, column), give(key, edge, …)
const BLOCK: u32 = 64u;
alias Value = f32;
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
fn key(row: u32) -> u32 {
  return keys[row];
}
fn term(row: u32, column: u32) -> Value {
  return input0[order[row] * parameters.width + column];
}
fn give(key: u32, edge: u32, column: u32, total: Value) {
  if (edge == INSIDE) {
    let at = key * parameters.width + column;
    result[at] = combine(result[at], total);
  } else {
    edges[edge * parameters.width + column] = total;
  }
}
// end functions

// The edge of a run that is neither the first nor the last of its block.
const INSIDE: u32 = 0xffffffffu;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;
  let tiles = (parameters.width + parameters.lanes - 1u) / parameters.lanes;
  let column = index % tiles * parameters.lanes + lane % parameters.lanes;
  let block = index / tiles * (256u / parameters.lanes) + lane / parameters.lanes;
  let start = block * BLOCK;
  if (start >= parameters.length || column >= parameters.width) {
    return;
  }
  let last = min(start + BLOCK, parameters.length) - 1u;
  let first_key = key(start);
  let last_key = key(last);
  var edge = 2u * block;
  var run_key = first_key;
  var total = Value(parameters.identity);
  for (var row = start; row <= last; row += 8u) {
    // Eight rows are asked for before the first is used.
    var keys_here: array<u32, 8>;
    var terms_here: array<Value, 8>;
    // unroll
    for (var i = 0u; i < 8u; i++) {
      keys_here[i] = key(min(row + i, last));
      terms_here[i] = term(min(row + i, last), column);
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      if (keys_here[i] != run_key) {
        give(run_key, edge, column, total);
        run_key = keys_here[i];
        edge = select(INSIDE, 2u * block + 1u, run_key == last_key);
        total = terms_here[i];
      } else if (row + i <= last) {
        total = combine(total, terms_here[i]);
      }
    }
  }
  give(run_key, edge, column, total);
  // A block of one run has a second edge that changes nothing.
  if (first_key == last_key) {
    give(last_key, 2u * block + 1u, column, Value(parameters.identity));
  }
}
