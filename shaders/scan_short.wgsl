// Scans of short rows: each workgroup scans one tile of several rows.
//
// A row takes `width` words of the tile, a power of two. Each step adds the total that is
// `distance` words earlier, if it is in the same row.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  width: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, Element, combine() and term()
alias Value = f32;
alias Element = f32;
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
fn term(row: u32, position: u32) -> Value {
  return input0[row * parameters.length + position];
}
// end functions

const TILE: u32 = 1024u;

// The totals of a tile, double-buffered: steps read one half and write the other.
var<workgroup> totals: array<Value, 2048>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first_row = (group.y * groups.x + group.x) * (TILE / parameters.width);
  let own_row = first_row + lane / parameters.width;
  let rows_apart = 256u / parameters.width;
  let position = lane % parameters.width;
  var own: array<Value, 4>;
  // slot terms: a thread's terms of four rows, in a loop if a term is long
  // unroll
  for (var i = 0u; i < 4u; i++) {
    let row = own_row + i * rows_apart;
    own[i] = parameters.identity;
    if (row < parameters.rows && position < parameters.length) {
      own[i] = term(row, position);
    }
    totals[i * 256u + lane] = own[i];
  }
  // end terms
  workgroupBarrier();
  var half = 0u;
  for (var distance = 1u; distance < parameters.width; distance *= 2u) {
    // unroll
    for (var i = 0u; i < 4u; i++) {
      let word = i * 256u + lane;
      if (position >= distance) {
        own[i] = combine(totals[half + word - distance], own[i]);
      }
      totals[TILE - half + word] = own[i];
    }
    half = TILE - half;
    workgroupBarrier();
  }
  // unroll
  for (var i = 0u; i < 4u; i++) {
    let row = own_row + i * rows_apart;
    if (row < parameters.rows && position < parameters.length) {
      result[row * parameters.length + position] = Element(own[i]);
    }
  }
}
