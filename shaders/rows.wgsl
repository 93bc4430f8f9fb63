// Rows: reductions along the last axis and their consumers, in one pass.
//
//   load     threads read a row into registers, ITERATIONS elements each
//   fold     a thread combines its elements of the row
//   reduce   the threads of a row combine their totals, in a tree in workgroup memory
//   store    the elements after the epilogue, or the results of the row
//
// The formula may have several reductions, each with a fold: of a softmax the maximum, then
// the sum of exponentials. A workgroup has several short rows. The slots hold the text for
// rows of 256 elements divided by their sums.

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

// slot shape: threads of a row, rows of a workgroup, their product; iterations of a
// thread, the number inside any row; how totals are combined
const LANES: u32 = 64u;
const GROUP_ROWS: u32 = 1u;
const THREADS: u32 = 64u;
const ITERATIONS: u32 = 4u;
const INSIDE: u32 = 4u;
const IS_UNROLLED: bool = true;
const FAN_IN: u32 = 16u;
const SUBTREES: u32 = 4u;
const IS_BY_ELEMENT_0: bool = true;
// end shape

// slot functions: the loads of an element, and finish()
fn load0(row: u32, column: u32) -> f32 {
  return input0[row * parameters.columns + column];
}
fn finish_0(v0: f32, v1: f32) -> f32 {
  return v0 / v1;
}
// end functions

// repeat reduction: once for each, counted by the numbers at the end of names
// slot element: Total, the term of an element, and how two totals are combined
alias Total_0 = f32;
fn element_0(v0: f32) -> Total_0 {
  return v0;
}
fn combine_0(a: Total_0, b: Total_0) -> Total_0 {
  return a + b;
}
// end element
var<workgroup> totals_0: array<Total_0, THREADS>;

// Two steps with many totals each: a barrier costs more than some additions.
fn reduce_0(thread: u32, lane: u32, own: Total_0) -> Total_0 {
  // registers
  var far: array<Total_0, FAN_IN>;
  // registers
  var near: array<Total_0, SUBTREES>;
  let first = thread - lane;
  totals_0[thread] = own;
  workgroupBarrier();
  // choose
  if (FAN_IN > 1u) {
    if (lane < SUBTREES) {
      // unroll
      for (var i = 0u; i < FAN_IN; i++) {
        far[i] = totals_0[thread + i * SUBTREES];
      }
      // unroll
      for (var apart = 1u; apart < FAN_IN; apart *= 2u) {
        // unroll
        for (var i = 0u; i < FAN_IN; i += 2u * apart) {
          far[i] = combine_0(far[i], far[i + apart]);
        }
      }
      totals_0[thread] = far[0u];
    }
    workgroupBarrier();
  }
  // unroll
  for (var i = 0u; i < SUBTREES; i++) {
    near[i] = totals_0[first + i];
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
  @builtin(local_invocation_index) thread: u32,
) {
  let lane = thread % LANES;
  // Threads past the last row repeat it.
  let row = min(
    (group.y * groups.x + group.x) * GROUP_ROWS + thread / LANES,
    parameters.rows - 1u,
  );

  // Load. Past the end of the row the last element is read again.
  // slot registers: a thread's elements of the row, by iteration
  // registers
  var v0: array<f32, ITERATIONS>;
  // end registers
  // unroll if IS_UNROLLED
  for (var j = 0u; j < ITERATIONS; j++) {
    var column = lane + j * LANES;
    // choose
    if (INSIDE < ITERATIONS && j >= INSIDE) {
      column = min(column, parameters.columns - 1u);
    }
    // slot load: the elements of an iteration
    v0[j] = load0(row, column);
    // end load
  }

  // repeat fold: once for each reduction
  // slot declared: values constant along the row, and registers for new values
  // end declared
  var total_0 = parameters.identity_0;
  // unroll if IS_UNROLLED
  for (var j = 0u; j < ITERATIONS; j++) {
    // slot compute: new values of an iteration
    // end compute
    // choose
    if (INSIDE == ITERATIONS || j < INSIDE || lane + j * LANES < parameters.columns) {
      // slot combine: an iteration's elements with the total
      total_0 = combine_0(total_0, element_0(v0[j]));
      // end combine
    }
  }
  let core_0 = reduce_0(thread, lane, total_0);
  // end fold

  // repeat store: once for each result
  // slot row_values: values constant along the row
  let v1 = core_0;
  // end row_values
  // choose
  if (IS_BY_ELEMENT_0) {
    // unroll if IS_UNROLLED
    for (var j = 0u; j < ITERATIONS; j++) {
      let column = lane + j * LANES;
      // choose
      if (INSIDE == ITERATIONS || j < INSIDE || column < parameters.columns) {
        // slot elements: store the results of an iteration
        result[row * parameters.columns + column] = finish_0(v0[j], v1);
        // end elements
      }
    }
  } else {
    if (lane == 0u) {
      // slot total: store the result of the row
      // end total
    }
  }
  // end store
}
