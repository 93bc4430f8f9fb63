// Scans of long rows, first launch: the total of each block.
//
// A block has four quads of neighbours per thread, 4096 elements for 256 threads. The
// totals have the shape (row, block); their scan gives the total before each block.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  blocks: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> block_totals: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, combine(), combine4() and quad()
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
// end functions

// slot shape: threads of a workgroup
const THREADS: u32 = 256u;
// end shape

var<workgroup> totals: array<Value, THREADS>;

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
  let first = combine4(quad0, quad1);
  let second = combine4(quad2, quad3);
  let both = combine4(first, second);
  totals[lane] = combine(combine(both.x, both.y), combine(both.z, both.w));
  workgroupBarrier();
  for (var width = THREADS / 2u; width > 0u; width /= 2u) {
    if (lane < width) {
      totals[lane] = combine(totals[lane], totals[lane + width]);
    }
    workgroupBarrier();
  }
  if (lane == 0u && row < parameters.rows) {
    block_totals[row * parameters.blocks + block] = totals[0];
  }
}
