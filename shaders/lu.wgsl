// LU factorizations with partial pivoting: P A = L U.
//
// A workgroup factors in place, column by column; the largest element is the pivot. A row
// of the result holds L below the diagonal and U from the diagonal on, then the index of
// the row of A at this position, and -1 if this step swapped two rows, else 1.
// (Golub and Van Loan, Matrix Computations, algorithm 3.4.1)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  rows: u32,
  columns: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first()
fn first(index: u32) -> f32 {
  return input0[index];
}
// end functions

// slot team: threads of a workgroup, side by side in rows of COLUMNS
const LANES: u32 = 256u;
const COLUMNS: u32 = 16u;
// end team
const ROWS: u32 = LANES / COLUMNS;

// slot shared: elements that a lane loads before it stores any
const AHEAD: u32 = 4u;
// end shared

var<workgroup> sizes: array<f32, LANES>;
var<workgroup> indices: array<u32, LANES>;

// The index that belongs to the largest size of all lanes, the smallest of equal ones.
fn index_of_largest(lane: u32, size: f32, index: u32) -> u32 {
  sizes[lane] = size;
  indices[lane] = index;
  workgroupBarrier();
  for (var distance = LANES / 2u; distance > 0u; distance /= 2u) {
    if (lane < distance) {
      let other = sizes[lane + distance];
      let own = sizes[lane];
      let its = indices[lane + distance];
      if (other > own || (other == own && its < indices[lane])) {
        sizes[lane] = other;
        indices[lane] = its;
      }
    }
    workgroupBarrier();
  }
  let found = indices[0];
  workgroupBarrier();
  return found;
}

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let rows = parameters.rows;
  let columns = parameters.columns;
  let width = columns + 2u;
  let start = matrix * rows * width;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  if (parameters.begin == 0u) {
    for (var i = row; i < rows; i += ROWS) {
      for (var k = column; k < columns; k += COLUMNS) {
        result[start + i * width + k] = first((matrix * rows + i) * columns + k);
      }
    }
    for (var i = lane; i < rows; i += LANES) {
      result[start + i * width + columns] = f32(i);
      result[start + i * width + columns + 1u] = 1.0;
    }
  }
  for (var j = parameters.begin; j < parameters.end; j += 1u) {
    storageBarrier();
    var best: f32 = -1.0;
    var pivot_row = j;
    for (var i = j + lane; i < rows; i += LANES) {
      let size = abs(result[start + i * width + j]);
      if (size > best) {
        best = size;
        pivot_row = i;
      }
    }
    let other = index_of_largest(lane, best, pivot_row);
    for (var k = lane; k <= columns; k += LANES) {
      let upper = result[start + j * width + k];
      let lower = result[start + other * width + k];
      result[start + j * width + k] = lower;
      result[start + other * width + k] = upper;
    }
    if (lane == 0u) {
      result[start + j * width + columns + 1u] = select(1.0, -1.0, other != j);
    }
    storageBarrier();
    let pivot = result[start + j * width + j];
    if (pivot != 0.0) {
      for (var i = j + 1u + lane; i < rows; i += LANES) {
        let at = start + i * width + j;
        result[at] = result[at] / pivot;
      }
    }
    storageBarrier();
    for (var next = j + 1u + row; next < rows; next += AHEAD * ROWS) {
      // registers
      var old: array<f32, AHEAD>;
      // registers
      var times: array<f32, AHEAD>;
      // unroll
      for (var a = 0u; a < AHEAD; a++) {
        times[a] = result[start + min(next + a * ROWS, rows - 1u) * width + j];
      }
      for (var k = j + 1u + column; k < columns; k += COLUMNS) {
        let above = result[start + j * width + k];
        // unroll
        for (var a = 0u; a < AHEAD; a++) {
          old[a] = result[start + min(next + a * ROWS, rows - 1u) * width + k];
        }
        // unroll
        for (var a = 0u; a < AHEAD; a++) {
          let i = next + a * ROWS;
          if (i < rows) {
            result[start + i * width + k] = old[a] - times[a] * above;
          }
        }
      }
    }
  }
}
