// Each matrix as orthonormal columns times an upper triangle: A = Q R, by reflections.
//
// A workgroup turns a copy of A into R, column by column, and keeps below the diagonal the
// vectors of the reflections; then it applies them, the last one first, to the identity.
// Columns lie as rows, each with its reflection's factor behind it; those of Q follow. The
// result is Q^T, and behind it R; or, packed, the columns of A as they are then.
// (Golub and Van Loan, Matrix Computations, 5.2.2)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  is_last: u32,
  rows: u32,
  columns: u32,
  width: u32,
  is_packed: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read_write> work: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first() and what is found together
fn first(index: u32) -> f32 {
  return input0[index];
}
var<workgroup> partial: array<f32, LANES>;
fn total(lane: u32, value: f32) -> f32 {
  return 0.0;
}
fn largest_of(lane: u32, value: f32) -> f32 {
  return 0.0;
}
// end functions

// slot team: threads of a workgroup, side by side in rows of COLUMNS
const LANES: u32 = 256u;
const COLUMNS: u32 = 16u;
// end team
const ROWS: u32 = LANES / COLUMNS;

// The smallest number whose inverse is finite on every device.
const SMALLEST: f32 = 1.17549435e-38;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let m = parameters.rows;
  let n = parameters.columns;
  let width = parameters.width;
  let length = m + 1u;
  let start = matrix * (n + width) * length;
  let first_of_q = start + n * length;
  let steps = min(m, n);
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  if (parameters.begin == 0u) {
    for (var i = lane; i < m * n; i += LANES) {
      work[start + i % n * length + i / n] = first(matrix * m * n + i);
    }
    for (var k = lane; k < n; k += LANES) {
      work[start + k * length + m] = 0.0;
    }
    for (var i = lane; i < width * length; i += LANES) {
      work[first_of_q + i] = select(0.0, 1.0, i / length == i % length);
    }
  }
  for (var step = parameters.begin; step < parameters.end; step += 1u) {
    let is_made = step < steps;
    let j = select(2u * steps - 1u - step, step, is_made);
    let begin = select(n + j, j + 1u, is_made);
    let end = select(n + width, n, is_made);
    let vector = start + j * length;
    storageBarrier();
    if (is_made) {
      var largest: f32 = 0.0;
      for (var i = j + lane; i < m; i += LANES) {
        largest = max(largest, abs(work[vector + i]));
      }
      let scale = max(largest_of(lane, largest), SMALLEST);
      let inverse = 1.0 / scale;
      var squares: f32 = 0.0;
      for (var i = j + 1u + lane; i < m; i += LANES) {
        let value = work[vector + i] * inverse;
        squares += value * value;
      }
      let rest = total(lane, squares);
      let head = work[vector + j];
      let scaled = head * inverse;
      let size = sqrt(scaled * scaled + rest) * scale;
      let is_plain = rest == 0.0;
      let corner = select(select(size, -size, head > 0.0), head, is_plain);
      let below = select(head - corner, 1.0, is_plain);
      storageBarrier();
      for (var i = j + 1u + lane; i < m; i += LANES) {
        work[vector + i] = work[vector + i] / below;
      }
      if (lane == 0u) {
        work[vector + j] = corner;
        work[vector + m] = select((corner - head) / corner, 0.0, is_plain);
      }
      storageBarrier();
    }
    let times = work[vector + m];
    for (var base = begin; base < end; base += ROWS) {
      let k = base + row;
      let own = start + k * length;
      var sum: f32 = 0.0;
      if (k < end) {
        sum = select(0.0, work[own + j], column == 0u);
        for (var i = j + 1u + column; i < m; i += COLUMNS) {
          sum += work[vector + i] * work[own + i];
        }
      }
      partial[lane] = sum;
      workgroupBarrier();
      for (var distance = COLUMNS / 2u; distance > 0u; distance /= 2u) {
        if (column < distance) {
          partial[lane] = partial[lane] + partial[lane + distance];
        }
        workgroupBarrier();
      }
      sum = times * partial[row * COLUMNS];
      workgroupBarrier();
      if (k < end) {
        if (column == 0u) {
          work[own + j] = work[own + j] - sum;
        }
        for (var i = j + 1u + column; i < m; i += COLUMNS) {
          work[own + i] = work[own + i] - work[vector + i] * sum;
        }
      }
    }
  }
  storageBarrier();
  if ((parameters.is_last & parameters.is_packed) != 0u) {
    for (var i = lane; i < n * length; i += LANES) {
      result[start + i] = work[start + i];
    }
  }
  if (parameters.is_last > parameters.is_packed) {
    let turned = matrix * (m * width + width * n);
    let triangle = turned + m * width;
    for (var i = lane; i < m * width; i += LANES) {
      result[turned + i] = work[first_of_q + i / m * length + i % m];
    }
    for (var i = lane; i < width * n; i += LANES) {
      let value = work[start + i % n * length + i / n];
      result[triangle + i] = select(0.0, value, i % n >= i / n);
    }
  }
}
