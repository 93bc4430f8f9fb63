// QR factorizations A = Q R by Householder reflections: orthonormal columns, upper triangle.
//
// A workgroup reduces a copy of A to R, column by column, and stores the vectors of the
// reflections below the diagonal; then it applies them to the identity, the last one
// first. The factors of complex reflections make the diagonal of R real. In `work` each
// column is contiguous and followed by the factor of its reflection; the columns of Q
// follow. The result is Q by its strides, then R; or, packed, the columns of A as they are
// in `work`. (Golub and Van Loan, Matrix Computations, 5.2.2; LAPACK Users' Guide, xGEQRF)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  is_last: u32,
  rows: u32,
  columns: u32,
  width: u32,
  row_stride: u32,
  column_stride: u32,
  is_packed: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<storage, read_write> work: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first() and second() and reductions over lanes
const IS_COMPLEX: bool = true;
const WORDS: u32 = 2u;
fn first(index: u32) -> f32 {
  return input0[index];
}
fn second(index: u32) -> f32 {
  return input1[index];
}
var<workgroup> partial: array<f32, LANES>;
fn sum_of_lanes(lane: u32, value: f32) -> f32 {
  return 0.0;
}
fn max_of_lanes(lane: u32, value: f32) -> f32 {
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

var<workgroup> imaginary_partial: array<f32, LANES>;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let m = parameters.rows;
  let n = parameters.columns;
  let width = parameters.width;
  let length = WORDS * (m + 1u);
  let start = matrix * (n + width) * length;
  let first_of_q = start + n * length;
  let steps = min(m, n);
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  if (parameters.begin == 0u) {
    for (var i = lane; i < m * n; i += LANES) {
      let address = start + i % n * length + WORDS * (i / n);
      work[address] = first(matrix * m * n + i);
      // choose
      if (IS_COMPLEX) {
        work[address + 1u] = second(matrix * m * n + i);
      }
    }
    for (var k = lane; k < n; k += LANES) {
      work[start + k * length + WORDS * m] = 0.0;
      // choose
      if (IS_COMPLEX) {
        work[start + k * length + 2u * m + 1u] = 0.0;
      }
    }
    for (var i = lane; i < width * (m + 1u); i += LANES) {
      work[first_of_q + WORDS * i] = select(0.0, 1.0, i / (m + 1u) == i % (m + 1u));
      // choose
      if (IS_COMPLEX) {
        work[first_of_q + 2u * i + 1u] = 0.0;
      }
    }
  }
  for (var step = parameters.begin; step < parameters.end; step += 1u) {
    let is_reduction = step < steps;
    let j = select(2u * steps - 1u - step, step, is_reduction);
    let begin = select(n + j, j + 1u, is_reduction);
    let end = select(n + width, n, is_reduction);
    let vector = start + j * length;
    storageBarrier();
    if (is_reduction) {
      var largest: f32 = 0.0;
      for (var i = WORDS * j + lane; i < WORDS * m; i += LANES) {
        largest = max(largest, abs(work[vector + i]));
      }
      let scale = max(max_of_lanes(lane, largest), SMALLEST);
      let inverse = 1.0 / scale;
      var squares: f32 = 0.0;
      for (var i = WORDS * (j + 1u) + lane; i < WORDS * m; i += LANES) {
        let value = work[vector + i] * inverse;
        squares += value * value;
      }
      let rest = sum_of_lanes(lane, squares);
      let head = work[vector + WORDS * j];
      var head_i: f32 = 0.0;
      // choose
      if (IS_COMPLEX) {
        head_i = work[vector + 2u * j + 1u];
      }
      let scaled = head * inverse;
      let scaled_i = head_i * inverse;
      let size = sqrt(scaled * scaled + scaled_i * scaled_i + rest) * scale;
      // Nothing to reflect. Devices may flush subnormal numbers to 0 in some operations and
      // not in others, so a column of subnormal size is not divided by.
      let is_reduced = ((rest == 0.0) & (head_i == 0.0)) | (size < SMALLEST);
      let corner = select(select(size, -size, head > 0.0), head, is_reduced);
      let divisor = select(head - corner, 1.0, is_reduced);
      // Scaled, so that no square overflows; then a device may divide by it.
      let y = select(divisor * inverse, 1.0, is_reduced);
      let yi = select(scaled_i, 0.0, is_reduced);
      let square = y * y + yi * yi;
      storageBarrier();
      for (var i = j + 1u + lane; i < m; i += LANES) {
        let address = vector + WORDS * i;
        // choose
        if (IS_COMPLEX) {
          let x = work[address] * inverse;
          let xi = work[address + 1u] * inverse;
          work[address] = (x * y + xi * yi) / square;
          work[address + 1u] = (xi * y - x * yi) / square;
        } else {
          work[address] = work[address] / divisor;
        }
      }
      if (lane == 0u) {
        work[vector + WORDS * j] = corner;
        work[vector + WORDS * m] = select((corner - head) / corner, 0.0, is_reduced);
        // choose
        if (IS_COMPLEX) {
          work[vector + 2u * j + 1u] = 0.0;
          work[vector + 2u * m + 1u] = select(-head_i / corner, 0.0, is_reduced);
        }
      }
      storageBarrier();
    }
    let times = work[vector + WORDS * m];
    var times_i: f32 = 0.0;
    // choose
    if (IS_COMPLEX) {
      // A is multiplied by the conjugate of the factor, Q by the factor itself.
      let factor_i = work[vector + 2u * m + 1u];
      times_i = select(factor_i, -factor_i, is_reduction);
    }
    for (var base = begin; base < end; base += ROWS) {
      let k = base + row;
      let own = start + k * length;
      var sum: f32 = 0.0;
      var sum_i: f32 = 0.0;
      if (k < end) {
        sum = select(0.0, work[own + WORDS * j], column == 0u);
        // choose
        if (IS_COMPLEX) {
          sum_i = select(0.0, work[own + 2u * j + 1u], column == 0u);
        }
        for (var i = j + 1u + column; i < m; i += COLUMNS) {
          let v = work[vector + WORDS * i];
          let x = work[own + WORDS * i];
          var product = v * x;
          // choose
          if (IS_COMPLEX) {
            let vi = work[vector + 2u * i + 1u];
            let xi = work[own + 2u * i + 1u];
            product += vi * xi;
            sum_i += v * xi - vi * x;
          }
          sum += product;
        }
      }
      partial[lane] = sum;
      // choose
      if (IS_COMPLEX) {
        imaginary_partial[lane] = sum_i;
      }
      workgroupBarrier();
      for (var distance = COLUMNS / 2u; distance > 0u; distance /= 2u) {
        if (column < distance) {
          partial[lane] = partial[lane] + partial[lane + distance];
          // choose
          if (IS_COMPLEX) {
            let other = imaginary_partial[lane + distance];
            imaginary_partial[lane] = imaginary_partial[lane] + other;
          }
        }
        workgroupBarrier();
      }
      let total = partial[row * COLUMNS];
      sum = times * total;
      // choose
      if (IS_COMPLEX) {
        let total_i = imaginary_partial[row * COLUMNS];
        sum -= times_i * total_i;
        sum_i = times * total_i + times_i * total;
      }
      workgroupBarrier();
      if (k < end) {
        if (column == 0u) {
          work[own + WORDS * j] = work[own + WORDS * j] - sum;
          // choose
          if (IS_COMPLEX) {
            work[own + 2u * j + 1u] = work[own + 2u * j + 1u] - sum_i;
          }
        }
        for (var i = j + 1u + column; i < m; i += COLUMNS) {
          let v = work[vector + WORDS * i];
          var change = v * sum;
          // choose
          if (IS_COMPLEX) {
            let vi = work[vector + 2u * i + 1u];
            let change_i = v * sum_i + vi * sum;
            change -= vi * sum_i;
            work[own + 2u * i + 1u] = work[own + 2u * i + 1u] - change_i;
          }
          work[own + WORDS * i] = work[own + WORDS * i] - change;
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
    let q = WORDS * matrix * (m * width + width * n);
    let r = q + WORDS * m * width;
    for (var i = lane; i < m * width; i += LANES) {
      let element = i % m * parameters.row_stride + i / m * parameters.column_stride;
      let source = first_of_q + i / m * length + WORDS * (i % m);
      result[q + WORDS * element] = work[source];
      // choose
      if (IS_COMPLEX) {
        result[q + 2u * element + 1u] = work[source + 1u];
      }
    }
    for (var i = lane; i < width * n; i += LANES) {
      let source = start + i % n * length + WORDS * (i / n);
      let is_upper = i % n >= i / n;
      result[r + WORDS * i] = select(0.0, work[source], is_upper);
      // choose
      if (IS_COMPLEX) {
        result[r + 2u * i + 1u] = select(0.0, work[source + 1u], is_upper);
      }
    }
  }
}
