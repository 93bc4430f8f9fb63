// LU factorizations with partial pivoting of matrices with many rows: P A = L U.
//
// A workgroup factors BLOCK columns at a time in registers, where each lane holds rows
// that are LANES apart: the first register of a row is its element of the current column.
// Then the rows of the other columns are swapped, and the columns to the right are
// updated at once. The result is that of lu.wgsl. (Golub and Van Loan, Matrix
// Computations, algorithm 3.4.1 and section 3.2.11)

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

// slot shared: columns of a block, rows of a lane, elements of a row that a lane updates,
// rows that it loads before it stores any; the rows that are swapped
const BLOCK: u32 = 8u;
const HELD: u32 = 2u;
const SPREAD: u32 = 4u;
const AHEAD: u32 = 4u;
var<workgroup> moved: array<f32, 1040>;
// end shared

var<workgroup> sizes: array<f32, LANES>;
var<workgroup> indices: array<u32, LANES>;
var<workgroup> upper: array<f32, BLOCK>;
var<workgroup> lower: array<f32, BLOCK>;
var<workgroup> pivots: array<u32, BLOCK>;
var<workgroup> slots: array<u32, BLOCK>;

// Whether a candidate is a better pivot: larger, or the first of equal ones.
fn is_better(size: f32, index: u32, best: f32, found: u32) -> bool {
  return size > best || (size == best && index < found);
}

// The index that belongs to the largest size of all lanes, the smallest of equal ones.
// Another barrier must follow before the next call.
fn index_of_largest(lane: u32, size: f32, index: u32) -> u32 {
  var best = size;
  var found = index;
  sizes[lane] = size;
  indices[lane] = index;
  workgroupBarrier();
  if (lane < 64u) {
    // unroll
    for (var t = 1u; t < LANES / 64u; t++) {
      let other = sizes[lane + t * 64u];
      let its = indices[lane + t * 64u];
      let is_taken = is_better(other, its, best, found);
      best = select(best, other, is_taken);
      found = select(found, its, is_taken);
    }
    sizes[lane] = best;
    indices[lane] = found;
  }
  workgroupBarrier();
  if (lane < 8u) {
    // unroll
    for (var t = 1u; t < 8u; t++) {
      let other = sizes[lane + t * 8u];
      let its = indices[lane + t * 8u];
      let is_taken = is_better(other, its, best, found);
      best = select(best, other, is_taken);
      found = select(found, its, is_taken);
    }
    sizes[lane] = best;
    indices[lane] = found;
  }
  workgroupBarrier();
  best = sizes[0];
  found = indices[0];
  // unroll
  for (var t = 1u; t < 8u; t++) {
    let other = sizes[t];
    let its = indices[t];
    let is_taken = is_better(other, its, best, found);
    best = select(best, other, is_taken);
    found = select(found, its, is_taken);
  }
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
  let stride = columns + 1u;
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
  // registers
  var x: array<array<f32, BLOCK>, HELD>;
  for (var begin = parameters.begin; begin < parameters.end; begin += BLOCK) {
    let count = min(parameters.end - begin, BLOCK);
    let after = begin + count;
    storageBarrier();
    // unroll
    for (var r = 0u; r < HELD; r++) {
      let at = start + min(lane + r * LANES, rows - 1u) * width + begin;
      // unroll
      for (var k = 0u; k < BLOCK; k++) {
        x[r][k] = result[at + min(k, count - 1u)];
      }
    }
    for (var c = 0u; c < count; c++) {
      let j = begin + c;
      var best: f32 = -1.0;
      var found = j;
      // unroll
      for (var r = 0u; r < HELD; r++) {
        let i = lane + r * LANES;
        let size = abs(x[r][0u]);
        if (i >= j && i < rows && size > best) {
          best = size;
          found = i;
        }
      }
      let other = index_of_largest(lane, best, found);
      // unroll
      for (var r = 0u; r < HELD; r++) {
        if (lane + r * LANES == other) {
          // unroll
          for (var k = 0u; k < BLOCK; k++) {
            upper[k] = x[r][k];
          }
        }
        if (lane + r * LANES == j) {
          // unroll
          for (var k = 0u; k < BLOCK; k++) {
            lower[k] = x[r][k];
          }
        }
      }
      if (lane == 0u) {
        pivots[c] = other;
        result[start + j * width + columns + 1u] = select(1.0, -1.0, other != j);
      }
      workgroupBarrier();
      let pivot = upper[0];
      // unroll
      for (var r = 0u; r < HELD; r++) {
        let i = lane + r * LANES;
        let at = start + i * width + j;
        if (i == other) {
          // unroll
          for (var k = 0u; k < BLOCK; k++) {
            x[r][k] = lower[k];
          }
        }
        if (i == j) {
          // unroll
          for (var k = 0u; k < BLOCK; k++) {
            if (c + k < count) {
              result[at + k] = upper[k];
            }
          }
        }
        if (i > j && i < rows) {
          if (pivot != 0.0) {
            x[r][0u] = x[r][0u] / pivot;
          }
          result[at] = x[r][0u];
        }
        let times = x[r][0u];
        // unroll
        for (var k = 1u; k < BLOCK; k++) {
          x[r][k - 1u] = x[r][k] - times * upper[k];
        }
      }
    }
    // Where `moved` has the row of each pivot: in the block, or the first with this pivot.
    if (lane < count) {
      let pivot = pivots[lane];
      var slot = pivot - begin;
      if (slot >= count) {
        slot = lane;
        for (var c = lane; c > 0u; c -= 1u) {
          if (pivots[c - 1u] == pivot) {
            slot = c - 1u;
          }
        }
        slot += BLOCK;
      }
      slots[lane] = slot;
    }
    workgroupBarrier();
    storageBarrier();
    for (var k = lane; k <= columns; k += LANES) {
      // unroll
      for (var c = 0u; c < BLOCK; c++) {
        let known = min(c, count - 1u);
        moved[c * stride + k] = result[start + (begin + known) * width + k];
        moved[(BLOCK + c) * stride + k] = result[start + pivots[known] * width + k];
      }
      // Columns of the block were swapped until they were done.
      let done = select(0u, k + 1u - begin, k >= begin && k < after);
      for (var c = done; c < count; c++) {
        let at = c * stride + k;
        let other = slots[c] * stride + k;
        let above = moved[other];
        moved[other] = moved[at];
        moved[at] = above;
      }
    }
    workgroupBarrier();
    for (var k = lane; k <= columns; k += LANES) {
      if (k >= after && k < columns) {
        // registers
        var above: array<f32, BLOCK>;
        // unroll
        for (var c = 0u; c < BLOCK; c++) {
          above[c] = moved[min(c, count - 1u) * stride + k];
          // unroll
          for (var d = 0u; d < c; d++) {
            above[c] -= moved[min(c, count - 1u) * stride + begin + d] * above[d];
          }
          if (c < count) {
            moved[c * stride + k] = above[c];
          }
        }
      }
      for (var c = 0u; c < count; c++) {
        result[start + (begin + c) * width + k] = moved[c * stride + k];
        if (slots[c] >= BLOCK) {
          result[start + pivots[c] * width + k] = moved[slots[c] * stride + k];
        }
      }
    }
    workgroupBarrier();
    storageBarrier();
    for (var next = after + row; next < rows; next += AHEAD * ROWS) {
      // registers
      var old: array<array<f32, SPREAD>, AHEAD>;
      // registers
      var times: array<array<f32, BLOCK>, AHEAD>;
      // unroll
      for (var a = 0u; a < AHEAD; a++) {
        let line = start + min(next + a * ROWS, rows - 1u) * width;
        // unroll
        for (var c = 0u; c < BLOCK; c++) {
          times[a][c] = select(0.0, result[line + begin + min(c, count - 1u)], c < count);
        }
        // unroll
        for (var s = 0u; s < SPREAD; s++) {
          old[a][s] = result[line + min(column + s * COLUMNS, columns - 1u)];
        }
      }
      // unroll
      for (var s = 0u; s < SPREAD; s++) {
        let k = column + s * COLUMNS;
        if (k >= after && k < columns) {
          // unroll
          for (var c = 0u; c < BLOCK; c++) {
            let above = moved[min(c, count - 1u) * stride + k];
            // unroll
            for (var a = 0u; a < AHEAD; a++) {
              old[a][s] -= times[a][c] * above;
            }
          }
          // unroll
          for (var a = 0u; a < AHEAD; a++) {
            if (next + a * ROWS < rows) {
              result[start + (next + a * ROWS) * width + k] = old[a][s];
            }
          }
        }
      }
    }
  }
}
