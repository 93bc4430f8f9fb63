// Scans of rows: each workgroup scans one block of a row.
//
// A block has four quads (vectors of four neighbours) per thread, 4096 elements for 256
// threads. The quads of one thread are THREADS quads apart, so that neighbouring threads
// read and write neighbouring quads. The total before a block comes from earlier launches.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  blocks: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, combine(), combine4(), quad(), before_block() and store_quad()
alias Value = f32;
alias Value4 = vec4<Value>;
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
fn combine4(a: Value4, b: Value4) -> Value4 {
  return a + b;
}
fn term_or_identity(row: u32, position: u32) -> Value {
  if (row < parameters.rows && position < parameters.length) {
    return input0[row * parameters.length + position];
  }
  return parameters.identity;
}
fn quad(row: u32, position: u32) -> Value4 {
  return Value4(
    term_or_identity(row, position),
    term_or_identity(row, position + 1u),
    term_or_identity(row, position + 2u),
    term_or_identity(row, position + 3u),
  );
}
fn before_block(row: u32, block: u32) -> Value {
  return parameters.identity;
}
fn store(row: u32, position: u32, total: Value) {
  if (row < parameters.rows && position < parameters.length) {
    result[row * parameters.length + position] = total;
  }
}
fn store_quad(row: u32, position: u32, totals: Value4) {
  store(row, position, totals.x);
  store(row, position + 1u, totals.y);
  store(row, position + 2u, totals.z);
  store(row, position + 3u, totals.w);
}
// end functions

// slot shape: threads of a workgroup
const THREADS: u32 = 256u;
// end shape

// Totals of the four quads of each thread, double-buffered: steps read one half and write the other.
var<workgroup> totals: array<Value4, 2u * THREADS>;

fn running(terms: Value4) -> Value4 {
  let second = combine(terms.x, terms.y);
  let third = combine(second, terms.z);
  return Value4(terms.x, second, third, combine(third, terms.w));
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;
  let row = index / parameters.blocks;
  let block = index % parameters.blocks;
  let position = block * 16u * THREADS + lane * 4u;
  // slot quads: the four quads of a thread, in a loop if a term is long
  let quad0 = quad(row, position);
  let quad1 = quad(row, position + 4u * THREADS);
  let quad2 = quad(row, position + 8u * THREADS);
  let quad3 = quad(row, position + 12u * THREADS);
  // end quads
  let running0 = running(quad0);
  let running1 = running(quad1);
  let running2 = running(quad2);
  let running3 = running(quad3);
  var total = Value4(running0.w, running1.w, running2.w, running3.w);
  totals[lane] = total;
  workgroupBarrier();
  var half = 0u;
  for (var distance = 1u; distance < THREADS; distance *= 2u) {
    if (lane >= distance) {
      total = combine4(totals[half + lane - distance], total);
    }
    half = THREADS - half;
    totals[half + lane] = total;
    workgroupBarrier();
  }
  var own = Value4(parameters.identity);
  if (lane > 0u) {
    own = totals[half + lane - 1u];
  }
  let whole = totals[half + THREADS - 1u];
  let before0 = before_block(row, block);
  let before1 = combine(before0, whole.x);
  let before2 = combine(before1, whole.y);
  let before3 = combine(before2, whole.z);
  store_quad(row, position, combine4(Value4(combine(before0, own.x)), running0));
  store_quad(
    row, position + 4u * THREADS, combine4(Value4(combine(before1, own.y)), running1));
  store_quad(
    row, position + 8u * THREADS, combine4(Value4(combine(before2, own.z)), running2));
  store_quad(
    row, position + 12u * THREADS, combine4(Value4(combine(before3, own.w)), running3));
}
