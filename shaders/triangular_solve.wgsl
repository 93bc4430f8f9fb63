// Solutions X of T X = B for triangular matrices T: a workgroup solves some columns of B.
//
// It works in place, from the row with one unknown on, and subtracts each solved row from
// all other rows. A zero on the diagonal gives infinities and NaN.
// (Golub and Van Loan, Matrix Computations, algorithms 3.1.3 and 3.1.4)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  size: u32,
  width: u32,
  blocks: u32,
  block: u32,
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

// Called for each block of columns by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let width = parameters.width;
  let which = matrix / parameters.blocks;
  let begin = matrix % parameters.blocks * parameters.block;
  let end = min(begin + parameters.block, width);
  let start = which * n * width;
  let triangle = which * n * n;
  let column = begin + lane % COLUMNS;
  let row = lane / COLUMNS;
  if (parameters.begin == 0u) {
    for (var i = row; i < n; i += ROWS) {
      for (var k = column; k < end; k += COLUMNS) {
        result[start + i * width + k] = second(start + i * width + k);
      }
    }
  }
  for (var step = parameters.begin; step < parameters.end; step += 1u) {
    let j = select(step, n - 1u - step, parameters.is_upper != 0u);
    let low = select(j + 1u, 0u, parameters.is_upper != 0u);
    let high = select(n, j, parameters.is_upper != 0u);
    storageBarrier();
    if (parameters.is_unit == 0u) {
      let pivot = first(triangle + j * n + j);
      for (var k = begin + lane; k < end; k += LANES) {
        result[start + j * width + k] = result[start + j * width + k] / pivot;
      }
    }
    storageBarrier();
    for (var i = low + row; i < high; i += ROWS) {
      let times = first(triangle + i * n + j);
      for (var k = column; k < end; k += COLUMNS) {
        let at = start + i * width + k;
        result[at] = result[at] - times * result[start + j * width + k];
      }
    }
  }
}
