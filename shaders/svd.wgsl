// Singular values and vectors of matrices with at least as many rows as columns.
//
// One-sided Jacobi (Hestenes): rotations of pairs of columns of A make all columns
// orthogonal; their lengths are the values, the rotations accumulate to V. Of a complex
// pair the second column is first multiplied by a number of size 1 that makes their
// product real. A sweep visits every pair once, in rounds of pairs that share no column.
// In `work` each column of A is contiguous and followed by the column of V; numbers have
// WORDS words. The result has the columns of U as rows, then the values in descending
// order, then V^H; a column of U whose value is 0 is 0.
// (Golub and Van Loan, Matrix Computations, 8.6.3)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  is_last: u32,
  rows: u32,
  columns: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<storage, read_write> work: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first() and second(), NaN, and reductions over lanes
const IS_COMPLEX: bool = true;
const WORDS: u32 = 2u;
fn first(index: u32) -> f32 {
  return input0[index];
}
fn second(index: u32) -> f32 {
  return input1[index];
}
fn nan_if(is_bad: bool, value: f32) -> f32 {
  return bitcast<f32>(select(bitcast<u32>(value), 0x7fc00000u, is_bad));
}
fn is_nan(value: f32) -> bool {
  return (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
}
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

// Half a unit in the last place of 1.
const EPSILON: f32 = 5.9604645e-8;

// The smallest number whose inverse is finite on every device.
const SMALLEST: f32 = 1.17549435e-38;

var<workgroup> owns: array<f32, LANES>;
var<workgroup> others: array<f32, LANES>;
var<workgroup> products: array<f32, LANES>;
var<workgroup> imaginary_products: array<f32, LANES>;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let m = parameters.rows;
  let n = parameters.columns;
  let height = m + n;
  let start = matrix * (WORDS * n * height + 2u * n + 4u);
  let lengths = start + WORDS * n * height;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  let state = lengths + n;
  if (parameters.begin == 0u) {
    var largest: f32 = 0.0;
    for (var i = lane; i < m * n; i += LANES) {
      largest = max(largest, abs(first(matrix * m * n + i)));
      // choose
      if (IS_COMPLEX) {
        largest = max(largest, abs(second(matrix * m * n + i)));
      }
    }
    let scale = max(max_of_lanes(lane, largest), SMALLEST);
    let inverse_scale = 1.0 / scale;
    var squares: f32 = 0.0;
    for (var i = lane; i < m * n; i += LANES) {
      let value = first(matrix * m * n + i) * inverse_scale;
      let address = start + WORDS * (i % n * height + i / n);
      squares += value * value;
      work[address] = value;
      // choose
      if (IS_COMPLEX) {
        let imaginary = second(matrix * m * n + i) * inverse_scale;
        squares += imaginary * imaginary;
        work[address + 1u] = imaginary;
      }
    }
    for (var i = lane; i < n * n; i += LANES) {
      let address = start + WORDS * (i / n * height + m + i % n);
      work[address] = select(0.0, 1.0, i / n == i % n);
      // choose
      if (IS_COMPLEX) {
        work[address + 1u] = 0.0;
      }
    }
    let frobenius = sqrt(sum_of_lanes(lane, squares));
    if (lane == 0u) {
      work[state] = frobenius;
      work[state + 1u] = scale;
      work[state + 2u] = select(0.0, 1.0, frobenius > 0.0);
      work[state + 3u] = 0.0;
    }
  }
  storageBarrier();
  let norm = work[state];
  let small = EPSILON * sqrt(f32(WORDS * m));
  let nothing = norm * EPSILON * EPSILON;
  let pairs = (n + 1u) / 2u;
  let rounds = max(2u * pairs, 1u) - 1u;
  var rotations = sum_of_lanes(lane, select(0.0, work[state + 2u], lane == 0u));
  var count = select(0.0, work[state + 3u], lane == 0u);
  var step = parameters.begin;
  while ((step < parameters.end) & (rotations > 0.0)) {
    let round = step % rounds;
    storageBarrier();
    for (var base = 0u; base < pairs; base += ROWS) {
      let pair = base + row;
      let one = select((round + pair) % rounds, rounds, pair == 0u);
      let two = (round + 2u * rounds - pair) % rounds;
      let p = min(one, two);
      let q = max(one, two);
      let left = start + WORDS * p * height;
      let right = start + WORDS * q * height;
      let is_pair = (pair < pairs) & (q < n);
      var own: f32 = 0.0;
      var its: f32 = 0.0;
      var both: f32 = 0.0;
      var imaginary: f32 = 0.0;
      if (is_pair) {
        for (var i = column; i < m; i += COLUMNS) {
          let x = work[left + WORDS * i];
          let y = work[right + WORDS * i];
          var x_square = x * x;
          var y_square = y * y;
          var product = x * y;
          // choose
          if (IS_COMPLEX) {
            let xi = work[left + 2u * i + 1u];
            let yi = work[right + 2u * i + 1u];
            x_square += xi * xi;
            y_square += yi * yi;
            product += xi * yi;
            imaginary += x * yi - xi * y;
          }
          own += x_square;
          its += y_square;
          both += product;
        }
      }
      owns[lane] = own;
      others[lane] = its;
      products[lane] = both;
      // choose
      if (IS_COMPLEX) {
        imaginary_products[lane] = imaginary;
      }
      workgroupBarrier();
      for (var distance = COLUMNS / 2u; distance > 0u; distance /= 2u) {
        if (column < distance) {
          owns[lane] = owns[lane] + owns[lane + distance];
          others[lane] = others[lane] + others[lane + distance];
          products[lane] = products[lane] + products[lane + distance];
          // choose
          if (IS_COMPLEX) {
            let other = imaginary_products[lane + distance];
            imaginary_products[lane] = imaginary_products[lane] + other;
          }
        }
        workgroupBarrier();
      }
      own = sqrt(owns[row * COLUMNS]);
      its = sqrt(others[row * COLUMNS]);
      both = products[row * COLUMNS];
      // The number of size 1 that makes the product of both columns real.
      var unit: f32 = 1.0;
      var unit_i: f32 = 0.0;
      // choose
      if (IS_COMPLEX) {
        imaginary = imaginary_products[row * COLUMNS];
        let larger = max(abs(both), abs(imaginary));
        let scale = select(0.0, 1.0 / larger, larger > 0.0);
        unit = both * scale;
        unit_i = -imaginary * scale;
        let size = sqrt(unit * unit + unit_i * unit_i);
        unit = unit / size;
        unit_i = unit_i / size;
        both = larger * size;
      }
      workgroupBarrier();
      let is_apart = (abs(both) > small * own * its) & (max(own, its) > nothing);
      if (is_pair & is_apart) {
        let cotangent = (its - own) * (its + own) / (2.0 * both);
        let size = abs(cotangent) + sqrt(1.0 + cotangent * cotangent);
        let tangent = select(-1.0, 1.0, cotangent >= 0.0) / size;
        let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        let sine = cosine * tangent;
        let tilt = sine / (1.0 + cosine);
        count += 1.0;
        for (var i = column; i < height; i += COLUMNS) {
          let x = work[left + WORDS * i];
          var y = work[right + WORDS * i];
          // choose
          if (IS_COMPLEX) {
            let xi = work[left + 2u * i + 1u];
            let z = work[right + 2u * i + 1u];
            let yi = unit * z + unit_i * y;
            y = unit * y - unit_i * z;
            work[left + 2u * i + 1u] = xi - sine * (yi + tilt * xi);
            work[right + 2u * i + 1u] = yi + sine * (xi - tilt * yi);
          }
          work[left + WORDS * i] = x - sine * (y + tilt * x);
          work[right + WORDS * i] = y + sine * (x - tilt * y);
        }
      }
    }
    step += 1u;
    if (step % rounds == 0u) {
      rotations = sum_of_lanes(lane, count);
      count = 0.0;
    }
  }
  let remaining = sum_of_lanes(lane, count);
  if (lane == 0u) {
    work[state + 2u] = rotations;
    work[state + 3u] = remaining;
  }
  storageBarrier();
  if (parameters.is_last != 0u) {
    for (var k = 0u; k < n; k += 1u) {
      var sum: f32 = 0.0;
      for (var i = lane; i < WORDS * m; i += LANES) {
        let value = work[start + WORDS * k * height + i];
        sum += value * value;
      }
      let size = sqrt(sum_of_lanes(lane, sum));
      if (lane == 0u) {
        work[lengths + k] = size;
      }
    }
    storageBarrier();
    let is_bad = is_nan(norm);
    let scale = work[state + 1u];
    let vectors = matrix * (WORDS * m * n + n + WORDS * n * n);
    let values = vectors + WORDS * m * n;
    let ranks = state + 4u;
    for (var k = lane; k < n; k += LANES) {
      let value = work[lengths + k];
      var rank = 0u;
      for (var other = 0u; other < n; other += 1u) {
        let its = work[lengths + other];
        if ((its > value) | ((its == value) & (other < k))) {
          rank += 1u;
        }
      }
      rank = select(rank, k, is_bad);
      work[ranks + k] = f32(rank);
      result[values + rank] = nan_if(is_bad, value * scale);
    }
    storageBarrier();
    for (var k = 0u; k < n; k += 1u) {
      let rank = u32(work[ranks + k]);
      let value = work[lengths + k];
      let inverse = select(0.0, 1.0 / value, value > nothing);
      for (var i = lane; i < WORDS * m; i += LANES) {
        let part = work[start + WORDS * k * height + i] * inverse;
        result[vectors + WORDS * rank * m + i] = nan_if(is_bad, part);
      }
      for (var i = lane; i < n; i += LANES) {
        let source = start + WORDS * (k * height + m + i);
        let address = values + n + WORDS * (rank * n + i);
        result[address] = nan_if(is_bad, work[source]);
        // choose
        if (IS_COMPLEX) {
          result[address + 1u] = nan_if(is_bad, -work[source + 1u]);
        }
      }
    }
  }
}
