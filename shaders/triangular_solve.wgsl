// Solutions X of T X = B for triangular matrices T: a workgroup solves some columns of B.
//
// From the row with one unknown on, each solved row is subtracted from all later ones, in
// workgroup memory. A zero on the diagonal gives infinities and NaN.
// (Golub and Van Loan, Matrix Computations, algorithms 3.1.3 and 3.1.4)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  size: u32,
  width: u32,
  blocks: u32,
  is_upper: u32,
  is_unit: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first() and second()
fn first(index: u32) -> f32 {
  return input0[index];
}
fn second(index: u32) -> f32 {
  return input1[index];
}
// end functions

// slot team: threads of a workgroup, side by side in rows of COLUMNS
const LANES: u32 = 256u;
const COLUMNS: u32 = 16u;
// end team
const ROWS: u32 = LANES / COLUMNS;

// slot shared: the triangle by rows and BLOCK columns, AHEAD at a time, in order of solution
const BLOCK: u32 = 16u;
const AHEAD: u32 = 1u;
var<workgroup> triangle: array<f32, 2080>;
var<workgroup> values: array<f32, 1024>;
// end shared

// Called for each block of columns by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let width = parameters.width;
  let which = matrix / parameters.blocks;
  let first_column = matrix % parameters.blocks * BLOCK;
  let count = min(BLOCK, width - first_column);
  let start = which * n * width + first_column;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  for (var i = row; i < n; i += ROWS) {
    let from_row = select(i, n - 1u - i, parameters.is_upper != 0u);
    for (var k = column; k <= i; k += COLUMNS) {
      let from_column = select(k, n - 1u - k, parameters.is_upper != 0u);
      var value = first(which * n * n + from_row * n + from_column);
      if ((i == k) & (parameters.is_unit != 0u)) {
        value = 1.0;
      }
      triangle[i * (i + 1u) / 2u + k] = value;
    }
    for (var k = column; k < count; k += COLUMNS) {
      values[i * count + k] = second(start + from_row * width + k);
    }
  }
  // Rows are divided by their diagonals where they are used and at the end: a step reads
  // a row that it does not write, and needs one barrier.
  for (var j = 0u; j < n; j += 1u) {
    workgroupBarrier();
    let pivot = triangle[j * (j + 3u) / 2u];
    for (var first_k = column; first_k < count; first_k += AHEAD * COLUMNS) {
      // registers
      var solved: array<f32, AHEAD>;
      // unroll
      for (var a = 0u; a < AHEAD; a++) {
        solved[a] = values[j * count + min(first_k + a * COLUMNS, count - 1u)] / pivot;
      }
      for (var i = j + 1u + row; i < n; i += ROWS) {
        let times = triangle[i * (i + 1u) / 2u + j];
        let at = i * count + first_k;
        // unroll
        for (var a = 0u; a < AHEAD; a++) {
          if (first_k + a * COLUMNS < count) {
            values[at + a * COLUMNS] -= times * solved[a];
          }
        }
      }
    }
  }
  workgroupBarrier();
  for (var i = row; i < n; i += ROWS) {
    let to_row = select(i, n - 1u - i, parameters.is_upper != 0u);
    for (var k = column; k < count; k += COLUMNS) {
      let value = values[i * count + k] / triangle[i * (i + 3u) / 2u];
      result[start + to_row * width + k] = value;
    }
  }
}
