// Whole rows: reductions along the last axis and what follows them, in one pass.
//
//   load     a workgroup reads one row into registers, ITERATIONS elements to a thread
//   fold     a thread combines its elements of the row
//   reduce   all threads combine their totals, in a tree in workgroup memory
//   store    each element as it is finished
//
// There is a fold and a reduction for each that the formula asks for: of a softmax the
// maximum, then the sum of exponentials. The slots hold the text for rows of 256 elements
// divided by their sums.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  columns: u32,
  identity_0: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot shape: threads, their iterations, how many iterations lie inside any row; SUBTREES
const THREADS: u32 = 64u;
const ITERATIONS: u32 = 4u;
const INSIDE: u32 = 4u;
const IS_UNROLLED: bool = true;
const SUBTREES: u32 = 4u;
// end shape

const FAN_IN: u32 = 16u;

// slot functions: what loads an element, and finish()
fn load0(row: u32, column: u32) -> f32 {
  return input0[row * parameters.columns + column];
}
fn finish(v0: f32, v1: f32) -> f32 {
  return v0 / v1;
}
// end functions

// repeat reduction: once for each, counted by the numbers at the end of names
// slot element: Total, what is reduced of an element, and how two are combined
alias Total_0 = f32;
fn element_0(v0: f32) -> Total_0 {
  return v0;
}
fn combine_0(a: Total_0, b: Total_0) -> Total_0 {
  return a + b;
}
// end element
var<workgroup> totals_0: array<Total_0, THREADS>;

// Two steps of many totals each: a barrier costs more than some additions.
fn reduce_0(lane: u32, own: Total_0) -> Total_0 {
  // registers
  var far: array<Total_0, FAN_IN>;
  // registers
  var near: array<Total_0, SUBTREES>;
  totals_0[lane] = own;
  workgroupBarrier();
  if (lane < SUBTREES) {
    // unroll
    for (var i = 0u; i < FAN_IN; i++) {
      far[i] = totals_0[lane + i * SUBTREES];
    }
    // unroll
    for (var apart = 1u; apart < FAN_IN; apart *= 2u) {
      // unroll
      for (var i = 0u; i < FAN_IN; i += 2u * apart) {
        far[i] = combine_0(far[i], far[i + apart]);
      }
    }
    totals_0[lane] = far[0u];
  }
  workgroupBarrier();
  // unroll
  for (var i = 0u; i < SUBTREES; i++) {
    near[i] = totals_0[i];
  }
  // unroll
  for (var apart = 1u; apart < SUBTREES; apart *= 2u) {
    // unroll
    for (var i = 0u; i < SUBTREES; i += 2u * apart) {
      near[i] = combine_0(near[i], near[i + apart]);
    }
  }
  return near[0u];
}
// end reduction

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  // A folded grid may have a few groups too many; they repeat the last row.
  let row = min(group.y * groups.x + group.x, parameters.rows - 1u);

  // Load. Beyond the row's end the last element is read again.
  // slot registers: what a thread holds of the row, by iteration
  // registers
  var v0: array<f32, ITERATIONS>;
  // end registers
  // unroll if IS_UNROLLED
  for (var j = 0u; j < ITERATIONS; j++) {
    var column = lane + j * THREADS;
    // choose
    if (INSIDE < ITERATIONS && j >= INSIDE) {
      column = min(column, parameters.columns - 1u);
    }
    // slot load: the elements of an iteration
    v0[j] = load0(row, column);
    // end load
  }

  // repeat fold: once for each reduction
  // slot kept: values that are the same along the row, registers for new ones
  // end kept
  var total_0 = parameters.identity_0;
  // unroll if IS_UNROLLED
  for (var j = 0u; j < ITERATIONS; j++) {
    // slot compute: new values of an iteration
    // end compute
    // choose
    if (INSIDE == ITERATIONS || j < INSIDE || lane + j * THREADS < parameters.columns) {
      // slot combine: an iteration's elements with the total
      total_0 = combine_0(total_0, element_0(v0[j]));
      // end combine
    }
  }
  let core_0 = reduce_0(lane, total_0);
  // end fold

  // Store.
  // slot row_values: values that are the same along the row
  let v1 = core_0;
  // end row_values
  // unroll if IS_UNROLLED
  for (var j = 0u; j < ITERATIONS; j++) {
    let column = lane + j * THREADS;
    // choose
    if (INSIDE == ITERATIONS || j < INSIDE || column < parameters.columns) {
      // slot store: the finished elements of an iteration
      result[row * parameters.columns + column] = finish(v0[j], v1);
      // end store
    }
  }
}
