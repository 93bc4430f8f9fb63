// Discrete Fourier transforms of short rows: a workgroup transforms some of them at once.
//
// Stockham's algorithm: a pass multiplies points of a row by twiddle factors, combines
// them in butterflies and stores them in their final order, so that no reordering follows.
// The points of a butterfly are LENGTH / RADIX elements apart when they are read and DONE
// elements apart when they are stored, where DONE is the product of earlier radices. The
// first pass reads the operand, the last one writes the result, the others use workgroup
// memory. The inverse swaps real and imaginary parts before and after.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  inner: u32,
  is_inverse: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<vec2f>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: term(row, position) and root_part(index), both parts of each root
fn term(row: u32, position: u32) -> vec2f {
  return vec2f(input0[row * LENGTH + position], 0.0);
}
fn root_part(index: u32) -> f32 {
  return input1[index];
}
// end functions

// slot shape: length of a row, rows and points of a workgroup (points are a multiple of
// sixteen), whether neighbours in memory belong to neighbouring rows
const LENGTH: u32 = 8u;
const GROUP_ROWS: u32 = 64u;
const POINTS: u32 = 512u;
const THREADS: u32 = 64u;
const READS_ACROSS: bool = false;
const WRITES_ACROSS: bool = false;
// end shape

var<workgroup> points: array<vec2f, POINTS>;

// The address of a point: lanes that store points at equal distances rarely share a bank.
fn address_of(point: u32) -> u32 {
  return point ^ (((point >> 4u) ^ (point >> 8u)) & 15u);
}

// The row and the first point of a butterfly.
fn butterfly(number: u32, apart: u32, is_across: bool) -> vec2u {
  // choose
  if (READS_ACROSS || WRITES_ACROSS) {
    let along = vec2u(number / apart, number % apart);
    return select(along, vec2u(number % GROUP_ROWS, number / GROUP_ROWS), is_across);
  } else {
    return vec2u(number / apart, number % apart);
  }
}

fn loaded(row: u32, position: u32) -> vec2f {
  let point = term(min(row, parameters.rows - 1u), position);
  return select(point, point.yx, parameters.is_inverse != 0u);
}

fn store(row: u32, position: u32, point: vec2f) {
  if (row < parameters.rows) {
    let inner = parameters.inner;
    let line = row / inner * LENGTH + position;
    result[line * inner + row % inner] =
      select(point, point.yx, parameters.is_inverse != 0u);
  }
}

// A point of a row, times its twiddle factor.
fn twiddled(at: u32, index: u32) -> vec2f {
  let point = points[address_of(at)];
  let root = vec2f(root_part(2u * index), root_part(2u * index + 1u));
  return vec2f(
    point.x * root.x - point.y * root.y,
    point.x * root.y + point.y * root.x,
  );
}

// A point times -i.
fn quarter(point: vec2f) -> vec2f {
  return vec2f(point.y, -point.x);
}

fn radix_2(x: array<vec2f, 2>) -> array<vec2f, 2> {
  return array<vec2f, 2>(x[0] + x[1], x[0] - x[1]);
}

fn radix_3(x: array<vec2f, 3>) -> array<vec2f, 3> {
  let a = x[0];
  let b = x[1];
  let c = x[2];
  let middle = a - 0.5 * (b + c);
  let side = 0.8660254 * quarter(b - c);
  return array<vec2f, 3>(a + (b + c), middle + side, middle - side);
}

fn radix_4(x: array<vec2f, 4>) -> array<vec2f, 4> {
  let even = x[0] + x[2];
  let other_even = x[0] - x[2];
  let odd = x[1] + x[3];
  let other_odd = quarter(x[1] - x[3]);
  return array<vec2f, 4>(
    even + odd,
    other_even + other_odd,
    even - odd,
    other_even - other_odd,
  );
}

fn radix_5(x: array<vec2f, 5>) -> array<vec2f, 5> {
  let a = x[0];
  let b = x[1];
  let c = x[2];
  let d = x[3];
  let e = x[4];
  let sum1 = b + e;
  let sum2 = c + d;
  let gap1 = quarter(b - e);
  let gap2 = quarter(c - d);
  let middle1 = a + 0.30901699 * sum1 - 0.80901699 * sum2;
  let middle2 = a - 0.80901699 * sum1 + 0.30901699 * sum2;
  let side1 = 0.95105652 * gap1 + 0.58778525 * gap2;
  let side2 = 0.58778525 * gap1 - 0.95105652 * gap2;
  return array<vec2f, 5>(
    a + sum1 + sum2,
    middle1 + side1,
    middle2 + side2,
    middle2 - side2,
    middle1 - side1,
  );
}

fn radix_7(x: array<vec2f, 7>) -> array<vec2f, 7> {
  let a = x[0];
  let b = x[1];
  let c = x[2];
  let d = x[3];
  let e = x[4];
  let f = x[5];
  let g = x[6];
  let sum1 = b + g;
  let sum2 = c + f;
  let sum3 = d + e;
  let gap1 = quarter(b - g);
  let gap2 = quarter(c - f);
  let gap3 = quarter(d - e);
  let middle1 = a + 0.6234898 * sum1 - 0.22252093 * sum2 - 0.90096887 * sum3;
  let middle2 = a - 0.22252093 * sum1 - 0.90096887 * sum2 + 0.6234898 * sum3;
  let middle3 = a - 0.90096887 * sum1 + 0.6234898 * sum2 - 0.22252093 * sum3;
  let side1 = 0.78183148 * gap1 + 0.97492791 * gap2 + 0.43388374 * gap3;
  let side2 = 0.97492791 * gap1 - 0.43388374 * gap2 - 0.78183148 * gap3;
  let side3 = 0.43388374 * gap1 - 0.78183148 * gap2 + 0.97492791 * gap3;
  return array<vec2f, 7>(
    a + sum1 + sum2 + sum3,
    middle1 + side1,
    middle2 + side2,
    middle3 + side3,
    middle3 - side3,
    middle2 - side2,
    middle1 - side1,
  );
}

fn radix_8(x: array<vec2f, 8>) -> array<vec2f, 8> {
  let even = radix_4(array<vec2f, 4>(x[0], x[2], x[4], x[6]));
  let odd = radix_4(array<vec2f, 4>(x[1], x[3], x[5], x[7]));
  let b = 0.70710678 * (odd[1] + quarter(odd[1]));
  let c = quarter(odd[2]);
  let d = 0.70710678 * (quarter(odd[3]) - odd[3]);
  return array<vec2f, 8>(
    even[0] + odd[0],
    even[1] + b,
    even[2] + c,
    even[3] + d,
    even[0] - odd[0],
    even[1] - b,
    even[2] - c,
    even[3] - d,
  );
}

// repeat pass: its functions; the index of the pass is at the end of names
// slot sizes: product of earlier radices, points of a butterfly, butterflies of the
// workgroup and of a lane, whether neighbours in memory are in other rows
const DONE_0: u32 = 1u;
const RADIX_0: u32 = 8u;
const BUTTERFLIES_0: u32 = 64u;
const EACH_0: u32 = 1u;
const IS_ACROSS_0: bool = false;
// end sizes
fn pass_0(lane: u32, first_row: u32) {
  // registers
  var x_0: array<array<vec2f, RADIX_0>, EACH_0>;
  // unroll
  for (var b = 0u; b < EACH_0; b++) {
    let number = min(lane + b * THREADS, BUTTERFLIES_0 - 1u);
    let origin = butterfly(number, LENGTH / RADIX_0, IS_ACROSS_0);
    let start = origin.x * LENGTH + origin.y;
    let root = origin.y % DONE_0 - 1u;
    // unroll
    for (var m = 0u; m < RADIX_0; m++) {
      // choose
      if (DONE_0 == 1u) {
        x_0[b][m] = loaded(first_row + origin.x, origin.y + m * (LENGTH / RADIX_0));
      } else {
        // choose
        if (m == 0u) {
          x_0[b][m] = points[address_of(start)];
        } else {
          x_0[b][m] = twiddled(start + m * (LENGTH / RADIX_0), m * DONE_0 + root);
        }
      }
    }
  }
  // choose
  if (DONE_0 > 1u && DONE_0 * RADIX_0 < LENGTH) {
    workgroupBarrier(); // every lane has read its points
  }
  // unroll
  for (var b = 0u; b < EACH_0; b++) {
    let number = lane + b * THREADS;
    // choose
    if (BUTTERFLIES_0 % THREADS == 0u || number < BUTTERFLIES_0) {
      let origin = butterfly(number, LENGTH / RADIX_0, IS_ACROSS_0);
      let k = origin.y % DONE_0;
      let to = (origin.y - k) * RADIX_0 + k;
      // slot butterfly: the butterfly of the points
      var found = radix_8(array<vec2f, 8>(x_0[b][0u], x_0[b][1u], x_0[b][2u], x_0[b][3u], x_0[b][4u], x_0[b][5u], x_0[b][6u], x_0[b][7u]));
      // end butterfly
      // unroll
      for (var m = 0u; m < RADIX_0; m++) {
        // choose
        if (DONE_0 * RADIX_0 == LENGTH) {
          store(first_row + origin.x, to + m * DONE_0, found[m]);
        } else {
          points[address_of(origin.x * LENGTH + to + m * DONE_0)] = found[m];
        }
      }
    }
  }
  // choose
  if (DONE_0 * RADIX_0 < LENGTH) {
    workgroupBarrier();
  }
}
// end pass

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first_row = (group.y * groups.x + group.x) * GROUP_ROWS;
  // repeat call: of each pass
  pass_0(lane, first_row);
  // end call
}
