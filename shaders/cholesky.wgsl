// Cholesky factorizations A = L L^T: a workgroup computes L in place, column by column.
//
// The lower triangle of A is read. From a pivot that is not positive on, all elements are
// NaN. (Golub and Van Loan, Matrix Computations, algorithm 4.2.2)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  size: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first() and NaN
fn first(index: u32) -> f32 {
  return input0[index];
}
fn nan_if(is_bad: bool, value: f32) -> f32 {
  return bitcast<f32>(select(bitcast<u32>(value), 0x7fc00000u, is_bad));
}
// end functions

// slot team: threads of a workgroup, side by side in rows of COLUMNS
const LANES: u32 = 256u;
const COLUMNS: u32 = 16u;
// end team
const ROWS: u32 = LANES / COLUMNS;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let start = matrix * n * n;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  if (parameters.begin == 0u) {
    for (var i = row; i < n; i += ROWS) {
      for (var k = column; k < n; k += COLUMNS) {
        var value: f32 = 0.0;
        if (k <= i) {
          value = first(start + i * n + k);
        }
        result[start + i * n + k] = value;
      }
    }
  }
  var is_bad = false;
  for (var j = parameters.begin; j < parameters.end; j += 1u) {
    storageBarrier();
    let pivot = result[start + j * n + j];
    is_bad = is_bad | !(pivot > 0.0);
    let root = nan_if(is_bad, sqrt(pivot));
    storageBarrier();
    for (var i = j + lane; i < n; i += LANES) {
      var value = root;
      if (i > j) {
        value = result[start + i * n + j] / root;
      }
      result[start + i * n + j] = value;
    }
    storageBarrier();
    for (var i = j + 1u + row; i < n; i += ROWS) {
      let factor_of_row = result[start + i * n + j];
      for (var k = j + 1u + column; k <= i; k += COLUMNS) {
        let at = start + i * n + k;
        result[at] = result[at] - factor_of_row * result[start + k * n + j];
      }
    }
  }
}
