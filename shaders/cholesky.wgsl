// Cholesky factorizations A = L L^T: a workgroup computes L in its memory by columns.
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

// slot shared: the lower triangle by rows
var<workgroup> triangle: array<f32, 2080>;
// end shared

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let start = matrix * n * n;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  for (var i = row; i < n; i += ROWS) {
    for (var k = column; k <= i; k += COLUMNS) {
      triangle[i * (i + 1u) / 2u + k] = first(start + i * n + k);
    }
  }
  // Columns are divided by the roots of their pivots at the end: a step reads a column that
  // it does not write, and needs one barrier.
  var sound = n;
  for (var j = 0u; j < n; j += 1u) {
    workgroupBarrier();
    let pivot = triangle[j * (j + 3u) / 2u];
    if (!(pivot > 0.0)) {
      sound = min(sound, j);
    }
    for (var i = j + 1u + row; i < n; i += ROWS) {
      let below = i * (i + 1u) / 2u;
      let times = triangle[below + j] / pivot;
      for (var k = j + 1u + column; k <= i; k += COLUMNS) {
        triangle[below + k] -= times * triangle[k * (k + 1u) / 2u + j];
      }
    }
  }
  workgroupBarrier();
  for (var i = row; i < n; i += ROWS) {
    for (var k = column; k < n; k += COLUMNS) {
      var value: f32 = 0.0;
      if (k <= i) {
        value = triangle[i * (i + 1u) / 2u + k] / sqrt(triangle[k * (k + 3u) / 2u]);
      }
      result[start + i * n + k] = nan_if((k <= i) & (k >= sound), value);
    }
  }
}
