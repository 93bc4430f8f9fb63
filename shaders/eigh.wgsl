// Eigenvalues in ascending order, and eigenvectors, of symmetric matrices: Jacobi's method.
//
// A workgroup rotates planes until all elements off the diagonal are small relative to the
// norm. A sweep visits every pair of rows once, in rounds of pairs that share no row and
// are rotated at once. The lower triangle is read. The result has a row of values, then
// the vectors as columns. (Golub and Van Loan, Matrix Computations, 8.5)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  is_last: u32,
  size: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<storage, read_write> work: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first(), NaN, and reductions over lanes
fn first(index: u32) -> f32 {
  return input0[index];
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

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let area = n * n;
  let start = matrix * (2u * area + 2u * n + 6u);
  let vectors = start + area;
  let angles = vectors + area;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  let state = angles + 2u * n + 2u;
  if (parameters.begin == 0u) {
    var largest: f32 = 0.0;
    for (var i = lane; i < area; i += LANES) {
      let r = max(i / n, i % n);
      largest = max(largest, abs(first(matrix * area + r * n + min(i / n, i % n))));
    }
    let scale = max(max_of_lanes(lane, largest), SMALLEST);
    let inverse_scale = 1.0 / scale;
    var squares: f32 = 0.0;
    for (var i = lane; i < area; i += LANES) {
      let r = max(i / n, i % n);
      let k = min(i / n, i % n);
      let value = first(matrix * area + r * n + k) * inverse_scale;
      squares += value * value;
      work[start + i] = value;
      work[vectors + i] = select(0.0, 1.0, r == k);
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
  let small = norm * EPSILON / f32(n);
  let players = n + n % 2u;
  let pairs = players / 2u;
  let rounds = max(players, 1u) - 1u;
  var rotations = sum_of_lanes(lane, select(0.0, work[state + 2u], lane == 0u));
  var count = select(0.0, work[state + 3u], lane == 0u);
  var step = parameters.begin;
  while ((step < parameters.end) & (rotations > 0.0)) {
    let round = step % rounds;
    storageBarrier();
    for (var pair = lane; pair < pairs; pair += LANES) {
      let one = select((round + pair) % rounds, rounds, pair == 0u);
      let two = (round + rounds - pair) % rounds;
      let p = min(one, two);
      let q = max(one, two);
      var sine: f32 = 0.0;
      var tilt: f32 = 0.0;
      if (q < n) {
        let element = work[start + p * n + q];
        if (abs(element) > small) {
          let apart = work[start + q * n + q] - work[start + p * n + p];
          let cotangent = apart / (2.0 * element);
          let size = abs(cotangent) + sqrt(1.0 + cotangent * cotangent);
          let tangent = select(-1.0, 1.0, cotangent >= 0.0) / size;
          let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
          sine = cosine * tangent;
          tilt = sine / (1.0 + cosine);
          count += 1.0;
        }
      }
      work[angles + 2u * pair] = sine;
      work[angles + 2u * pair + 1u] = tilt;
    }
    storageBarrier();
    for (var pair = row; pair < pairs; pair += ROWS) {
      let one = select((round + pair) % rounds, rounds, pair == 0u);
      let two = (round + rounds - pair) % rounds;
      let p = min(one, two);
      let q = max(one, two);
      let sine = work[angles + 2u * pair];
      let tilt = work[angles + 2u * pair + 1u];
      if ((q < n) & (sine != 0.0)) {
        for (var k = column; k < n; k += COLUMNS) {
          let x = work[start + p * n + k];
          let y = work[start + q * n + k];
          work[start + p * n + k] = x - sine * (y + tilt * x);
          work[start + q * n + k] = y + sine * (x - tilt * y);
        }
      }
    }
    storageBarrier();
    for (var pair = column; pair < pairs; pair += COLUMNS) {
      let one = select((round + pair) % rounds, rounds, pair == 0u);
      let two = (round + rounds - pair) % rounds;
      let p = min(one, two);
      let q = max(one, two);
      let sine = work[angles + 2u * pair];
      let tilt = work[angles + 2u * pair + 1u];
      if ((q < n) & (sine != 0.0)) {
        for (var i = row; i < 2u * n; i += ROWS) {
          let x = work[start + i * n + p];
          let y = work[start + i * n + q];
          work[start + i * n + p] = x - sine * (y + tilt * x);
          work[start + i * n + q] = y + sine * (x - tilt * y);
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
    let is_bad = is_nan(norm);
    let scale = work[state + 1u];
    let values = matrix * (area + n);
    for (var k = lane; k < n; k += LANES) {
      let value = work[start + k * n + k];
      var rank = 0u;
      for (var other = 0u; other < n; other += 1u) {
        let its = work[start + other * n + other];
        if ((its < value) | ((its == value) & (other < k))) {
          rank += 1u;
        }
      }
      rank = select(rank, k, is_bad);
      result[values + rank] = nan_if(is_bad, value * scale);
      for (var i = 0u; i < n; i += 1u) {
        let part = work[vectors + i * n + k];
        result[values + n + i * n + rank] = nan_if(is_bad, part);
      }
    }
  }
}
