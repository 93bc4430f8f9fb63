// Each complex matrix as orthonormal columns times an upper triangle: A = Q R.
//
// Reflections as in qr.wgsl, whose factors are complex so that the diagonal of R is real.
// Numbers are pairs. The result is Q, and behind it R. (LAPACK Users' Guide, xGEQRF)

// slot declarations: parameters and storages
struct Parameters {
  matrices: u32,
  begin: u32,
  end: u32,
  is_last: u32,
  rows: u32,
  columns: u32,
  width: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<storage, read_write> work: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: first(), second() and what is found together
fn first(index: u32) -> f32 {
  return input0[index];
}
fn second(index: u32) -> f32 {
  return input1[index];
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

var<workgroup> crossed: array<f32, LANES>;

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
      let at = 2u * (start + i % n * length + i / n);
      work[at] = first(matrix * m * n + i);
      work[at + 1u] = second(matrix * m * n + i);
    }
    for (var k = lane; k < n; k += LANES) {
      work[2u * (start + k * length + m)] = 0.0;
      work[2u * (start + k * length + m) + 1u] = 0.0;
    }
    for (var i = lane; i < width * length; i += LANES) {
      work[2u * (first_of_q + i)] = select(0.0, 1.0, i / length == i % length);
      work[2u * (first_of_q + i) + 1u] = 0.0;
    }
  }
  for (var step = parameters.begin; step < parameters.end; step += 1u) {
    let is_made = step < steps;
    let j = select(2u * steps - 1u - step, step, is_made);
    let begin = select(n + j, j + 1u, is_made);
    let end = select(n + width, n, is_made);
    let vector = 2u * (start + j * length);
    let corner = vector + 2u * j;
    storageBarrier();
    if (is_made) {
      var largest: f32 = 0.0;
      for (var i = 2u * j + lane; i < 2u * m; i += LANES) {
        largest = max(largest, abs(work[vector + i]));
      }
      let scale = max(largest_of(lane, largest), SMALLEST);
      let inverse = 1.0 / scale;
      var squares: f32 = 0.0;
      for (var i = 2u * j + 2u + lane; i < 2u * m; i += LANES) {
        let value = work[vector + i] * inverse;
        squares += value * value;
      }
      let rest = total(lane, squares);
      let head = work[corner] * inverse;
      let headi = work[corner + 1u] * inverse;
      let size = sqrt(head * head + headi * headi + rest);
      let is_plain = (rest == 0.0) & (headi == 0.0);
      // The column becomes this real number, times the scale; the vector is what is
      // below, divided by head - becomes.
      let becomes = select(select(size, -size, head > 0.0), head, is_plain);
      let below = select(head - becomes, 1.0, is_plain);
      let belowi = select(headi, 0.0, is_plain);
      let whole = below * below + belowi * belowi;
      storageBarrier();
      for (var i = j + 1u + lane; i < m; i += LANES) {
        let at = vector + 2u * i;
        let value = work[at] * inverse;
        let valuei = work[at + 1u] * inverse;
        work[at] = (value * below + valuei * belowi) / whole;
        work[at + 1u] = (valuei * below - value * belowi) / whole;
      }
      if (lane == 0u) {
        work[corner] = becomes * scale;
        work[corner + 1u] = 0.0;
        work[vector + 2u * m] = select((becomes - head) / becomes, 0.0, is_plain);
        work[vector + 2u * m + 1u] = select(-headi / becomes, 0.0, is_plain);
      }
      storageBarrier();
    }
    // A is turned by the conjugate of the factor, Q by the factor itself.
    let times = work[vector + 2u * m];
    let along = work[vector + 2u * m + 1u];
    let timesi = select(along, -along, is_made);
    for (var base = begin; base < end; base += ROWS) {
      let k = base + row;
      let own = 2u * (start + k * length);
      var sum: f32 = 0.0;
      var sumi: f32 = 0.0;
      if (k < end) {
        sum = select(0.0, work[own + 2u * j], column == 0u);
        sumi = select(0.0, work[own + 2u * j + 1u], column == 0u);
        for (var i = j + 1u + column; i < m; i += COLUMNS) {
          let v = work[vector + 2u * i];
          let vi = work[vector + 2u * i + 1u];
          let x = work[own + 2u * i];
          let xi = work[own + 2u * i + 1u];
          sum += v * x + vi * xi;
          sumi += v * xi - vi * x;
        }
      }
      partial[lane] = sum;
      crossed[lane] = sumi;
      workgroupBarrier();
      for (var distance = COLUMNS / 2u; distance > 0u; distance /= 2u) {
        if (column < distance) {
          partial[lane] = partial[lane] + partial[lane + distance];
          crossed[lane] = crossed[lane] + crossed[lane + distance];
        }
        workgroupBarrier();
      }
      let all = partial[row * COLUMNS];
      let alli = crossed[row * COLUMNS];
      workgroupBarrier();
      let part = times * all - timesi * alli;
      let parti = times * alli + timesi * all;
      if (k < end) {
        if (column == 0u) {
          work[own + 2u * j] = work[own + 2u * j] - part;
          work[own + 2u * j + 1u] = work[own + 2u * j + 1u] - parti;
        }
        for (var i = j + 1u + column; i < m; i += COLUMNS) {
          let v = work[vector + 2u * i];
          let vi = work[vector + 2u * i + 1u];
          let at = own + 2u * i;
          work[at] = work[at] - (v * part - vi * parti);
          work[at + 1u] = work[at + 1u] - (v * parti + vi * part);
        }
      }
    }
  }
  storageBarrier();
  if (parameters.is_last != 0u) {
    let left = 2u * matrix * (m * width + width * n);
    let triangle = left + 2u * m * width;
    for (var i = lane; i < m * width; i += LANES) {
      let at = 2u * (first_of_q + i % width * length + i / width);
      result[left + 2u * i] = work[at];
      result[left + 2u * i + 1u] = work[at + 1u];
    }
    for (var i = lane; i < width * n; i += LANES) {
      let at = 2u * (start + i % n * length + i / n);
      let is_inside = i % n >= i / n;
      result[triangle + 2u * i] = select(0.0, work[at], is_inside);
      result[triangle + 2u * i + 1u] = select(0.0, work[at + 1u], is_inside);
    }
  }
}
