// Whole rows: reductions along the last axis and what follows them, in one pass.
//
// A workgroup reads one row into registers, reduces it as often as the formula asks
// (its maximum, then the sum of exponentials, for example) and writes the finished row.
// The text here normalises rows of 256 elements by their sum.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  columns: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot shape: threads of a workgroup, and memory for each time they meet
const THREADS: u32 = 256u;
var<workgroup> totals0: array<f32, THREADS>;
// end shape

// slot functions: loads, stages, how they combine, and the finished element
fn load0(row: u32, column: u32) -> f32 {
  return input0[row * parameters.columns + column];
}
fn combine0(a: f32, b: f32) -> f32 {
  return a + b;
}
fn reduce0(lane: u32, own: f32) -> f32 {
  totals0[lane] = own;
  workgroupBarrier();
  if (lane < 16u) {
    var total = totals0[lane];
    for (var i = 1u; i < 16u; i++) {
      total = combine0(total, totals0[lane + i * 16u]);
    }
    totals0[lane] = total;
  }
  workgroupBarrier();
  var total = totals0[0];
  for (var i = 1u; i < 16u; i++) {
    total = combine0(total, totals0[i]);
  }
  return total;
}
fn finish(value: f32, core0: f32) -> f32 {
  return value / core0;
}
// end functions

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  // A folded grid may have a few groups too many; they repeat the last row.
  let row = min(group.y * groups.x + group.x, parameters.rows - 1u);

  // slot body: load the row, reduce it stage by stage, store it
  let value = load0(row, lane);
  let core0 = reduce0(lane, value);
  result[row * parameters.columns + lane] = finish(value, core0);
  // end body
}
