// Eigenvalues in ascending order, and eigenvectors, of symmetric matrices: Jacobi's method.
//
// A workgroup rotates planes until all elements off the diagonal are small relative to the
// norm. A sweep visits every pair of rows once, in rounds of pairs that share no row and
// are rotated at once. The lower triangle is read and kept in workgroup memory; the vectors
// are rows of `work`. The result has a row of values, then the vectors as columns.
// (Golub and Van Loan, Matrix Computations, 8.5)

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

// slot shared: the lower triangle by rows, each pair's rows and rotation; SPAN lanes to a
// vector, AHEAD pairs of vectors at a time
const SPAN: u32 = 64u;
const AHEAD: u32 = 4u;
var<workgroup> triangle: array<f32, 2080>;
var<workgroup> first_rows: array<f32, 64>;
var<workgroup> second_rows: array<f32, 64>;
var<workgroup> sines: array<f32, 64>;
var<workgroup> tilts: array<f32, 64>;
// end shared

// Half a unit in the last place of 1.
const EPSILON: f32 = 5.9604645e-8;

// The smallest number whose inverse is finite on every device.
const SMALLEST: f32 = 1.17549435e-38;

// Called for each matrix by workgroup/matrices.wgsl.
fn factor(matrix: u32, lane: u32) {
  let n = parameters.size;
  let area = n * n;
  let half = n * (n + 1u) / 2u;
  let start = matrix * (half + area + 4u);
  let vectors = start + half;
  let state = vectors + area;
  let column = lane % COLUMNS;
  let row = lane / COLUMNS;
  if (parameters.begin == 0u) {
    var largest: f32 = 0.0;
    for (var i = row; i < n; i += ROWS) {
      for (var k = column; k <= i; k += COLUMNS) {
        largest = max(largest, abs(first(matrix * area + i * n + k)));
      }
    }
    let scale = max(max_of_lanes(lane, largest), SMALLEST);
    let inverse_scale = 1.0 / scale;
    var squares: f32 = 0.0;
    for (var i = row; i < n; i += ROWS) {
      for (var k = column; k < n; k += COLUMNS) {
        work[vectors + i * n + k] = select(0.0, 1.0, i == k);
        if (k <= i) {
          let value = first(matrix * area + i * n + k) * inverse_scale;
          squares += value * value * select(2.0, 1.0, i == k);
          work[start + i * (i + 1u) / 2u + k] = value;
        }
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
  // An odd matrix gets a row of zeros, which needs no rotation.
  let players = n + n % 2u;
  for (var i = lane; i < players * (players + 1u) / 2u; i += LANES) {
    triangle[i] = select(0.0, work[start + i], i < half);
  }
  let norm = work[state];
  let small = norm * EPSILON / f32(n);
  let pairs = players / 2u;
  let rounds = max(players, 1u) - 1u;
  var rotations = sum_of_lanes(lane, select(0.0, work[state + 2u], lane == 0u));
  var count = select(0.0, work[state + 3u], lane == 0u);
  var step = parameters.begin;
  while ((step < parameters.end) & (rotations > 0.0)) {
    let round = step % rounds;
    workgroupBarrier();
    storageBarrier();
    for (var pair = lane; pair < pairs; pair += LANES) {
      let one = select((round + pair) % rounds, rounds, pair == 0u);
      let two = (round + rounds - pair) % rounds;
      let p = min(one, two);
      let q = max(one, two);
      let below = q * (q + 1u) / 2u;
      let element = triangle[below + p];
      var sine: f32 = 0.0;
      var tilt: f32 = 0.0;
      if (abs(element) > small) {
        let apart = triangle[below + q] - triangle[p * (p + 3u) / 2u];
        let cotangent = apart / (2.0 * element);
        let size = abs(cotangent) + sqrt(1.0 + cotangent * cotangent);
        let tangent = select(-1.0, 1.0, cotangent >= 0.0) / size;
        let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
        sine = cosine * tangent;
        tilt = sine / (1.0 + cosine); // the tangent of half the angle
        count += 1.0;
      }
      first_rows[pair] = f32(p);
      second_rows[pair] = f32(q);
      sines[pair] = sine;
      tilts[pair] = tilt;
    }
    workgroupBarrier();
    // The elements where the rows of one pair meet the columns of another are rotated by
    // both; each lane has elements of its own.
    for (var down = row; down < pairs; down += ROWS) {
      let p = u32(first_rows[down]);
      let q = u32(second_rows[down]);
      let p_row = p * (p + 1u) / 2u;
      let q_row = q * (q + 1u) / 2u;
      let sine = sines[down];
      let tilt = tilts[down];
      for (var across = column; across <= down; across += COLUMNS) {
        let other_sine = sines[across];
        let other_tilt = tilts[across];
        if ((sine != 0.0) | (other_sine != 0.0)) {
          let r = u32(first_rows[across]);
          let s = u32(second_rows[across]);
          let r_row = r * (r + 1u) / 2u;
          let s_row = s * (s + 1u) / 2u;
          let pr = select(r_row + p, p_row + r, r < p);
          let ps = select(s_row + p, p_row + s, s < p);
          let qr = select(r_row + q, q_row + r, r < q);
          let qs = select(s_row + q, q_row + s, s < q);
          let a = triangle[pr];
          let b = triangle[ps];
          let c = triangle[qr];
          let d = triangle[qs];
          let upper_left = a - sine * (c + tilt * a);
          let upper_right = b - sine * (d + tilt * b);
          let lower_left = c + sine * (a - tilt * c);
          let lower_right = d + sine * (b - tilt * d);
          let above = upper_right + other_sine * (upper_left - other_tilt * upper_right);
          let below = lower_left - other_sine * (lower_right + other_tilt * lower_left);
          // What a rotation makes zero is zero: its rounding would need further sweeps.
          triangle[pr] = upper_left - other_sine * (upper_right + other_tilt * upper_left);
          triangle[ps] = select(above, 0.0, down == across);
          triangle[qr] = select(below, 0.0, down == across);
          triangle[qs] = lower_right + other_sine * (lower_left - other_tilt * lower_right);
        }
      }
    }
    for (var next = lane / SPAN; next < pairs; next += AHEAD * (LANES / SPAN)) {
      // registers
      var at: array<u32, AHEAD>;
      // registers
      var other: array<u32, AHEAD>;
      // registers
      var sine: array<f32, AHEAD>;
      // registers
      var tilt: array<f32, AHEAD>;
      // unroll
      for (var k = 0u; k < AHEAD; k++) {
        let pair = min(next + k * (LANES / SPAN), pairs - 1u);
        at[k] = vectors + u32(first_rows[pair]) * n;
        other[k] = vectors + u32(second_rows[pair]) * n;
        sine[k] = select(0.0, sines[pair], next + k * (LANES / SPAN) < pairs);
        tilt[k] = tilts[pair];
      }
      for (var i = lane % SPAN; i < n; i += SPAN) {
        // registers
        var x: array<f32, AHEAD>;
        // registers
        var y: array<f32, AHEAD>;
        // unroll
        for (var k = 0u; k < AHEAD; k++) {
          x[k] = work[at[k] + i];
          y[k] = work[other[k] + i];
        }
        // unroll
        for (var k = 0u; k < AHEAD; k++) {
          if (sine[k] != 0.0) {
            work[at[k] + i] = x[k] - sine[k] * (y[k] + tilt[k] * x[k]);
            work[other[k] + i] = y[k] + sine[k] * (x[k] - tilt[k] * y[k]);
          }
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
  workgroupBarrier();
  for (var i = lane; i < half; i += LANES) {
    work[start + i] = triangle[i];
  }
  storageBarrier();
  if (parameters.is_last != 0u) {
    let is_bad = is_nan(norm);
    let scale = work[state + 1u];
    let values = matrix * (area + n);
    for (var k = row; k < n; k += ROWS) {
      let value = triangle[k * (k + 3u) / 2u];
      var rank = 0u;
      for (var other = 0u; other < n; other += 1u) {
        let its = triangle[other * (other + 3u) / 2u];
        if ((its < value) | ((its == value) & (other < k))) {
          rank += 1u;
        }
      }
      rank = select(rank, k, is_bad);
      if (column == 0u) {
        result[values + rank] = nan_if(is_bad, value * scale);
      }
      for (var i = column; i < n; i += COLUMNS) {
        let part = work[vectors + k * n + i];
        result[values + n + i * n + rank] = nan_if(is_bad, part);
      }
    }
  }
}
