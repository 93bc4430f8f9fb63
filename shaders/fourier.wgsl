// Discrete Fourier transforms of short rows: a workgroup keeps some in its memory.
//
// After Stockham: each pass reads one half of the memory and writes the other, where
// results stand in their final order, so that none are swapped. With `done` points of a
// row transformed and `radix` in this pass, point j of k turns by root(j * k * turn) and
// points `apart` become neighbours `done` apart. With real and imaginary parts swapped
// before and after, the same goes backwards.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  inner: u32,
  together: u32,
  radices: u32,
  reads_across: u32,
  is_inverse: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<vec2f>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: term(row, position) and root_part(index), both parts of each root
fn term(row: u32, position: u32) -> vec2f {
  return vec2f(input0[row * parameters.length + position], 0.0);
}
fn root_part(index: u32) -> f32 {
  return input1[index];
}
// end functions

// slot shape: points in memory, threads, whether lengths have factors 3, 5 and 7
const POINTS: u32 = 1024u;
const THREADS: u32 = 128u;
const HAS_ODD: bool = true;
// end shape

var<workgroup> points: array<vec2f, 2u * POINTS>;

// Quotient and remainder; without odd factors all numbers are powers of two.
fn parts_of(number: u32, size: u32) -> vec2u {
  // choose
  if (HAS_ODD) {
    return vec2u(number / size, number % size);
  } else {
    return vec2u(number >> countTrailingZeros(size), number & (size - 1u));
  }
}

// A point of a row, turned.
fn turned(at: u32, angle: u32) -> vec2f {
  let point = points[at];
  let root = vec2f(root_part(2u * angle), root_part(2u * angle + 1u));
  return vec2f(
    point.x * root.x - point.y * root.y,
    point.x * root.y + point.y * root.x,
  );
}

// A point times -i.
fn quarter(point: vec2f) -> vec2f {
  return vec2f(point.y, -point.x);
}

struct Four {
  a: vec2f,
  b: vec2f,
  c: vec2f,
  d: vec2f,
}

fn four(a: vec2f, b: vec2f, c: vec2f, d: vec2f) -> Four {
  let even = a + c;
  let other_even = a - c;
  let odd = b + d;
  let other_odd = quarter(b - d);
  return Four(even + odd, other_even + other_odd, even - odd, other_even - other_odd);
}

fn pass_2(read: u32, apart: u32, angle: u32, to: u32, done: u32) {
  let a = points[read];
  let b = turned(read + apart, angle);
  points[to] = a + b;
  points[to + done] = a - b;
}

fn pass_4(read: u32, apart: u32, angle: u32, to: u32, done: u32) {
  let found = four(
    points[read],
    turned(read + apart, angle),
    turned(read + 2u * apart, 2u * angle),
    turned(read + 3u * apart, 3u * angle),
  );
  points[to] = found.a;
  points[to + done] = found.b;
  points[to + 2u * done] = found.c;
  points[to + 3u * done] = found.d;
}

fn pass_8(read: u32, apart: u32, angle: u32, to: u32, done: u32) {
  let even = four(
    points[read],
    turned(read + 2u * apart, 2u * angle),
    turned(read + 4u * apart, 4u * angle),
    turned(read + 6u * apart, 6u * angle),
  );
  let odd = four(
    turned(read + apart, angle),
    turned(read + 3u * apart, 3u * angle),
    turned(read + 5u * apart, 5u * angle),
    turned(read + 7u * apart, 7u * angle),
  );
  let b = 0.70710678 * (odd.b + quarter(odd.b));
  let c = quarter(odd.c);
  let d = 0.70710678 * (quarter(odd.d) - odd.d);
  points[to] = even.a + odd.a;
  points[to + done] = even.b + b;
  points[to + 2u * done] = even.c + c;
  points[to + 3u * done] = even.d + d;
  points[to + 4u * done] = even.a - odd.a;
  points[to + 5u * done] = even.b - b;
  points[to + 6u * done] = even.c - c;
  points[to + 7u * done] = even.d - d;
}

fn pass_3(read: u32, apart: u32, angle: u32, to: u32, done: u32) {
  let a = points[read];
  let b = turned(read + apart, angle);
  let c = turned(read + 2u * apart, 2u * angle);
  let middle = a - 0.5 * (b + c);
  let side = 0.8660254 * quarter(b - c);
  points[to] = a + (b + c);
  points[to + done] = middle + side;
  points[to + 2u * done] = middle - side;
}

fn pass_5(read: u32, apart: u32, angle: u32, to: u32, done: u32) {
  let a = points[read];
  let b = turned(read + apart, angle);
  let c = turned(read + 2u * apart, 2u * angle);
  let d = turned(read + 3u * apart, 3u * angle);
  let e = turned(read + 4u * apart, 4u * angle);
  let sum1 = b + e;
  let sum2 = c + d;
  let gap1 = quarter(b - e);
  let gap2 = quarter(c - d);
  let middle1 = a + 0.30901699 * sum1 - 0.80901699 * sum2;
  let middle2 = a - 0.80901699 * sum1 + 0.30901699 * sum2;
  let side1 = 0.95105652 * gap1 + 0.58778525 * gap2;
  let side2 = 0.58778525 * gap1 - 0.95105652 * gap2;
  points[to] = a + sum1 + sum2;
  points[to + done] = middle1 + side1;
  points[to + 2u * done] = middle2 + side2;
  points[to + 3u * done] = middle2 - side2;
  points[to + 4u * done] = middle1 - side1;
}

fn pass_7(read: u32, apart: u32, angle: u32, to: u32, done: u32) {
  let a = points[read];
  let b = turned(read + apart, angle);
  let c = turned(read + 2u * apart, 2u * angle);
  let d = turned(read + 3u * apart, 3u * angle);
  let e = turned(read + 4u * apart, 4u * angle);
  let f = turned(read + 5u * apart, 5u * angle);
  let g = turned(read + 6u * apart, 6u * angle);
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
  points[to] = a + sum1 + sum2 + sum3;
  points[to + done] = middle1 + side1;
  points[to + 2u * done] = middle2 + side2;
  points[to + 3u * done] = middle3 + side3;
  points[to + 4u * done] = middle3 - side3;
  points[to + 5u * done] = middle2 - side2;
  points[to + 6u * done] = middle1 - side1;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first_row = (group.y * groups.x + group.x) * parameters.together;
  let length = parameters.length;
  let together = parameters.together;
  let is_inverse = parameters.is_inverse != 0u;
  let reads_across = parameters.reads_across != 0u;
  for (var i = lane; i < together * length; i += THREADS) {
    let place = parts_of(i, select(length, together, reads_across));
    let row = select(place.x, place.y, reads_across);
    let position = select(place.y, place.x, reads_across);
    var point = vec2f(0.0, 0.0);
    if (first_row + row < parameters.rows) {
      point = term(first_row + row, position);
    }
    points[row * length + position] = select(point, point.yx, is_inverse);
  }

  var half = 0u;
  var done = 1u;
  for (var radices = parameters.radices; radices != 0u; radices >>= 4u) {
    workgroupBarrier();
    let radix = radices & 15u;
    let apart = length / radix;
    let turn = apart / done;
    for (var i = lane; i < together * apart; i += THREADS) {
      let place = parts_of(i, apart);
      let start = place.x * length;
      let k = parts_of(place.y, done).y;
      let read = half + start + place.y;
      let to = POINTS - half + start + (place.y - k) * radix + k;
      let angle = k * turn;
      // choose
      if (HAS_ODD) {
        switch radix {
          case 2u: {
            pass_2(read, apart, angle, to, done);
          }
          case 3u: {
            pass_3(read, apart, angle, to, done);
          }
          case 4u: {
            pass_4(read, apart, angle, to, done);
          }
          case 5u: {
            pass_5(read, apart, angle, to, done);
          }
          case 7u: {
            pass_7(read, apart, angle, to, done);
          }
          default: {
            pass_8(read, apart, angle, to, done);
          }
        }
      } else {
        switch radix {
          case 2u: {
            pass_2(read, apart, angle, to, done);
          }
          case 4u: {
            pass_4(read, apart, angle, to, done);
          }
          default: {
            pass_8(read, apart, angle, to, done);
          }
        }
      }
    }
    done *= radix;
    half = POINTS - half;
  }
  workgroupBarrier();

  let writes_across = parameters.inner > 1u;
  for (var i = lane; i < together * length; i += THREADS) {
    let place = parts_of(i, select(length, together, writes_across));
    let row = select(place.x, place.y, writes_across);
    let position = select(place.y, place.x, writes_across);
    let number = first_row + row;
    if (number < parameters.rows) {
      let point = points[half + row * length + position];
      let inner = parameters.inner;
      let line = number / inner * length + position;
      result[line * inner + number % inner] = select(point, point.yx, is_inverse);
    }
  }
}
