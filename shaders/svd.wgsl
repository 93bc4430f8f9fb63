// Singular values and vectors of matrices with at least as many rows as columns.
//
// One-sided Jacobi (Hestenes): columns of A are turned in pairs until all are orthogonal;
// their lengths are the values, the turns make V. A sweep meets every pair once, a round
// of it pairs that share no column. Columns lie as rows here, those of V behind those of
// A. The result has the columns of U as rows, below them a row of values in falling order,
// below that V^T; a column of U whose value is 0 is 0.
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
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read_write> work: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first(), what makes and finds NaN, and what is found together
fn first(index: u32) -> f32 {
  return input0[index];
}
fn nan_if(is_bad: bool, value: f32) -> f32 {
  return bitcast<f32>(select(bitcast<u32>(value), 0x7fc00000u, is_bad));
}
fn is_nan(value: f32) -> bool {
  return (bitcast<u32>(value) & 0x7fffffffu) > 0x7f800000u;
}
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

// Half a unit in the last place of 1.
const EPSILON: f32 = 5.9604645e-8;

// The smallest number whose inverse is finite on every device.
const SMALLEST: f32 = 1.17549435e-38;

var<workgroup> owns: array<f32, LANES>;
var<workgroup> others: array<f32, LANES>;
var<workgroup> products: array<f32, LANES>;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let m = parameters.rows;
  let n = parameters.columns;
  let height = m + n;
  let start = matrix * (n * height + 2u * n + 4u);
  let lengths = start + n * height;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  let state = lengths + n;
  if (parameters.begin == 0u) {
    var largest: f32 = 0.0;
    for (var i = lane; i < m * n; i += LANES) {
      largest = max(largest, abs(first(matrix * m * n + i)));
    }
    let scale = max(largest_of(lane, largest), SMALLEST);
    let inverse_scale = 1.0 / scale;
    var squares: f32 = 0.0;
    for (var i = lane; i < m * n; i += LANES) {
      let value = first(matrix * m * n + i) * inverse_scale;
      squares += value * value;
      work[start + i % n * height + i / n] = value;
    }
    for (var i = lane; i < n * n; i += LANES) {
      work[start + i / n * height + m + i % n] = select(0.0, 1.0, i / n == i % n);
    }
    let whole = sqrt(total(lane, squares));
    if (lane == 0u) {
      work[state] = whole;
      work[state + 1u] = scale;
      work[state + 2u] = select(0.0, 1.0, whole > 0.0);
      work[state + 3u] = 0.0;
    }
  }
  storageBarrier();
  let norm = work[state];
  let small = EPSILON * sqrt(f32(m));
  let nothing = norm * EPSILON * EPSILON;
  let players = n + n % 2u;
  let pairs = players / 2u;
  let rounds = max(players, 1u) - 1u;
  var turned = total(lane, select(0.0, work[state + 2u], lane == 0u));
  var count = select(0.0, work[state + 3u], lane == 0u);
  var step = parameters.begin;
  while ((step < parameters.end) & (turned > 0.0)) {
    let round = step % rounds;
    storageBarrier();
    for (var base = 0u; base < pairs; base += ROWS) {
      let pair = base + row;
      let one = select((round + pair) % rounds, rounds, pair == 0u);
      let two = (round + 2u * rounds - pair) % rounds;
      let p = min(one, two);
      let q = max(one, two);
      let is_pair = (pair < pairs) & (q < n);
      var own: f32 = 0.0;
      var its: f32 = 0.0;
      var both: f32 = 0.0;
      if (is_pair) {
        for (var i = column; i < m; i += COLUMNS) {
          let x = work[start + p * height + i];
          let y = work[start + q * height + i];
          own += x * x;
          its += y * y;
          both += x * y;
        }
      }
      owns[lane] = own;
      others[lane] = its;
      products[lane] = both;
      workgroupBarrier();
      for (var distance = COLUMNS / 2u; distance > 0u; distance /= 2u) {
        if (column < distance) {
          owns[lane] = owns[lane] + owns[lane + distance];
          others[lane] = others[lane] + others[lane + distance];
          products[lane] = products[lane] + products[lane + distance];
        }
        workgroupBarrier();
      }
      own = sqrt(owns[row * COLUMNS]);
      its = sqrt(others[row * COLUMNS]);
      both = products[row * COLUMNS];
      workgroupBarrier();
      let is_apart = (abs(both) > small * own * its) & (max(own, its) > nothing);
      let is_turned = is_pair & is_apart;
      if (is_turned) {
        let slope = (its - own) * (its + own) / (2.0 * both);
        let size = abs(slope) + sqrt(1.0 + slope * slope);
        let tangent = select(-1.0, 1.0, slope >= 0.0) / size;
        let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        let sine = cosine * tangent;
        let tilt = sine / (1.0 + cosine);
        count += 1.0;
        for (var i = column; i < height; i += COLUMNS) {
          let x = work[start + p * height + i];
          let y = work[start + q * height + i];
          work[start + p * height + i] = x - sine * (y + tilt * x);
          work[start + q * height + i] = y + sine * (x - tilt * y);
        }
      }
    }
    step += 1u;
    if (step % rounds == 0u) {
      turned = total(lane, count);
      count = 0.0;
    }
  }
  let left = total(lane, count);
  if (lane == 0u) {
    work[state + 2u] = turned;
    work[state + 3u] = left;
  }
  storageBarrier();
  if (parameters.is_last != 0u) {
    for (var k = 0u; k < n; k += 1u) {
      var sum: f32 = 0.0;
      for (var i = lane; i < m; i += LANES) {
        let value = work[start + k * height + i];
        sum += value * value;
      }
      let size = sqrt(total(lane, sum));
      if (lane == 0u) {
        work[lengths + k] = size;
      }
    }
    storageBarrier();
    let is_bad = is_nan(norm);
    let scale = work[state + 1u];
    let vectors = matrix * (m * n + n + n * n);
    let values = vectors + m * n;
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
      for (var i = lane; i < m; i += LANES) {
        let part = work[start + k * height + i] * inverse;
        result[vectors + rank * m + i] = nan_if(is_bad, part);
      }
      for (var i = lane; i < n; i += LANES) {
        let part = work[start + k * height + m + i];
        result[values + n + rank * n + i] = nan_if(is_bad, part);
      }
    }
  }
}
