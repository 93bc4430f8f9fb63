// Running totals of rows, first pass: each workgroup scans one block of a row.
//
// A block is 1024 elements, four for each thread. The result holds running totals
// inside each block, `block_totals` the total of each block, laid out (row, block).

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  blocks: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read_write> block_totals: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, term() and combine()
alias Value = f32;
fn term(row: u32, position: u32) -> Value {
  return input0[row * parameters.length + position];
}
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
// end functions

var<workgroup> totals: array<Value, 256>;

fn term_or_identity(row: u32, position: u32) -> Value {
  if (row < parameters.rows && position < parameters.length) {
    return term(row, position);
  }
  return parameters.identity;
}

fn store(row: u32, position: u32, total: Value) {
  if (row < parameters.rows && position < parameters.length) {
    result[row * parameters.length + position] = total;
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;
  let row = index / parameters.blocks;
  let block = index % parameters.blocks;
  let position = block * 1024u + lane * 4u;
  let running0 = term_or_identity(row, position);
  let running1 = combine(running0, term_or_identity(row, position + 1u));
  let running2 = combine(running1, term_or_identity(row, position + 2u));
  let running3 = combine(running2, term_or_identity(row, position + 3u));
  totals[lane] = running3;
  workgroupBarrier();
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    var total = totals[lane];
    if (lane >= distance) {
      total = combine(totals[lane - distance], total);
    }
    workgroupBarrier();
    totals[lane] = total;
    workgroupBarrier();
  }
  var before = parameters.identity;
  if (lane > 0u) {
    before = totals[lane - 1u];
  }
  store(row, position, combine(before, running0));
  store(row, position + 1u, combine(before, running1));
  store(row, position + 2u, combine(before, running2));
  store(row, position + 3u, combine(before, running3));
  if (lane == 255u && row < parameters.rows) {
    block_totals[row * parameters.blocks + block] = totals[255];
  }
}
