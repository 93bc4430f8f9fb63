// Accumulation of sorted rows: each thread combines one column of a block of rows.
//
// A block is 64 rows; a run is rows of one key, which is the index of a row of the result.
// The total of a run inside a block goes to the result. The first and the last run may
// continue in other blocks: their totals are two rows of the next launch. `lanes` columns
// of a block share a workgroup with the same columns of other blocks.

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

// slot functions: HAS_EDGES, Value, combine(), key(row), term(), before() and give()
const HAS_EDGES: bool = true;
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
fn before(key: u32, column: u32) -> Value {
  return result[key * parameters.width + column];
}
fn give(key: u32, edge: u32, column: u32, total: Value, start: Value) {
  if (edge == INSIDE) {
    result[key * parameters.width + column] = combine(start, total);
  } else {
    edges[edge * parameters.width + column] = total;
  }
}
// end functions

const BLOCK: u32 = 64u;

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
  var run_start = before(first_key, column);
  for (var row = start; row <= last; row += 8u) {
    // Eight rows and their totals so far are loaded before the first is used.
    var keys_here: array<u32, 8>;
    var terms_here: array<Value, 8>;
    var starts_here: array<Value, 8>;
    // unroll
    for (var i = 0u; i < 8u; i++) {
      keys_here[i] = key(min(row + i, last));
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      terms_here[i] = term(min(row + i, last), column);
      starts_here[i] = before(keys_here[i], column);
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      if (keys_here[i] != run_key) {
        give(run_key, edge, column, total, run_start);
        run_key = keys_here[i];
        edge = select(INSIDE, 2u * block + 1u, run_key == last_key);
        total = terms_here[i];
        run_start = starts_here[i];
      } else if (row + i <= last) {
        total = combine(total, terms_here[i]);
      }
    }
  }
  give(run_key, edge, column, total, run_start);
  // A block of one run has a second edge that changes nothing.
  if (HAS_EDGES && first_key == last_key) {
    let nothing = Value(parameters.identity);
    give(last_key, 2u * block + 1u, column, nothing, nothing);
  }
}
