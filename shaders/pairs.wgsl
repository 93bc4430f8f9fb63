// Pairs: every row of one operand is combined with every column of another, along depth.
//
//                       right          A result combines terms of a row's and a column's
//                     ┌───┬───┐        values: a·b of small products, (a - b)² or |a - b|
//               depth │   │▒▒▒│        of distances. A thread has 4 × 4 results, a block;
//                     └───┴───┘        `down` × `across` blocks are a tile. `matrices`
//      left   depth   across           small matrices, a tile each, share a
//       ┌──┬────┐     ┌───┬───┐        workgroup; a large matrix has several tiles.
//  down │  │    │     │   │   │
//       ├──┤    │     ├───┼───┤
//       │▒▒│    │     │   │ █ │        The tiles of both operands are in workgroup memory,
//       └──┴────┘     └───┴───┘        DEPTH deep, four rows or columns to a vector.

// slot declarations: parameters and storages
struct Parameters {
  batch: u32,
  rows: u32,
  columns: u32,
  depth: u32,
  down: u32,
  across: u32,
  tiles_down: u32,
  tiles_across: u32,
  matrices: u32,
  left_width: u32,
  right_width: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot shape: of a workgroup; LOADS: vectors of an operand that a thread loads; IS_AHEAD:
// whether it loads the next tiles while it combines the present ones
const THREADS: u32 = 64u;
const DEPTH: u32 = 16u;
const UNROLLED: u32 = 16u;
const IS_AHEAD: bool = true;
const LEFT_LOADS: u32 = 4u;
const RIGHT_LOADS: u32 = 4u;
const VECTORS: u32 = 512u;
// end shape

// slot functions: Left, Right, Value; positions and values of vectors; the term of a pair;
// how totals are combined and stored
alias Left = f32;
alias Right = f32;
alias Value = f32;
// The matrix, the depth and the index in the tile of a vector.
fn left_position(number: u32) -> vec3u {
  let rest = number / DEPTH;
  return vec3u(rest / parameters.down, number % DEPTH, rest % parameters.down);
}
fn right_position(number: u32) -> vec3u {
  let rest = number / parameters.across;
  return vec3u(rest / DEPTH, rest % DEPTH, number % parameters.across);
}
fn left_inside(vector: u32, component: u32) -> u32 {
  return vector + component * parameters.down;
}
fn right_inside(vector: u32, component: u32) -> u32 {
  return vector * 4u + component;
}
fn left(batch: u32, row: u32, depth: u32) -> Left {
  return input0[(batch * parameters.rows + row) * parameters.depth + depth];
}
fn left_vector(batch: u32, first: u32, vector: u32, depth: u32) -> vec4<Left> {
  let last = parameters.rows - 1u;
  return vec4<Left>(
    left(batch, min(first + left_inside(vector, 0u), last), depth),
    left(batch, min(first + left_inside(vector, 1u), last), depth),
    left(batch, min(first + left_inside(vector, 2u), last), depth),
    left(batch, min(first + left_inside(vector, 3u), last), depth),
  );
}
fn right_vector(batch: u32, first: u32, vector: u32, depth: u32) -> vec4<Right> {
  let column = min(first + vector * 4u, parameters.columns - 4u);
  return input1[((batch * parameters.depth + depth) * parameters.columns + column) / 4u];
}
fn identity() -> Value {
  return Value(0);
}
fn accumulate(total: vec4<Value>, a: Left, b: vec4<Right>) -> vec4<Value> {
  return fma(vec4<Value>(a), b, total);
}
fn combine_four(a: vec4<Value>, b: vec4<Value>) -> vec4<Value> {
  return a + b;
}
fn store(batch: u32, row: u32, column: u32, totals: vec4<Value>) {
  if (row < parameters.rows && column < parameters.columns) {
    result[((batch * parameters.rows + row) * parameters.columns + column) / 4u] = totals;
  }
}
// end functions

var<workgroup> left_tile: array<vec4<Left>, VECTORS>;
var<workgroup> right_tile: array<vec4<Right>, VECTORS>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let block = group.y * groups.x + group.x;
  let tiles = block / parameters.tiles_across;
  let first_column = (block % parameters.tiles_across) * parameters.across * 4u;
  let first_row = (tiles % parameters.tiles_down) * parameters.down * 4u;
  let first_batch = tiles / parameters.tiles_down * parameters.matrices;
  let last_batch = parameters.batch - 1u;

  // Threads past the last matrix of the workgroup only load.
  let area = parameters.down * parameters.across;
  let matrix = local / area;
  let own = min(matrix, parameters.matrices - 1u);
  let down = local % area / parameters.across;
  let across = local % area % parameters.across;
  let left_at = own * DEPTH * parameters.left_width + down;
  let right_at = own * DEPTH * parameters.right_width + across;

  // The vectors of the next tiles that a thread loads while it combines the present ones.
  let left_count = parameters.matrices * DEPTH * parameters.down;
  let right_count = parameters.matrices * DEPTH * parameters.across;
  // registers
  var left_positions: array<vec3u, LEFT_LOADS>;
  // registers
  var left_next: array<vec4<Left>, LEFT_LOADS>;
  // registers
  var right_positions: array<vec3u, RIGHT_LOADS>;
  // registers
  var right_next: array<vec4<Right>, RIGHT_LOADS>;
  // unroll
  for (var i = 0u; i < LEFT_LOADS; i++) {
    left_positions[i] = left_position(min(local + i * THREADS, left_count - 1u));
  }
  // unroll
  for (var i = 0u; i < RIGHT_LOADS; i++) {
    right_positions[i] = right_position(min(local + i * THREADS, right_count - 1u));
  }
  let last_depth = parameters.depth - 1u;
  // choose
  if (IS_AHEAD) {
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      left_next[i] = left_vector(min(first_batch + left_positions[i].x, last_batch), first_row, left_positions[i].z, min(left_positions[i].y, last_depth));
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      right_next[i] = right_vector(min(first_batch + right_positions[i].x, last_batch), first_column, right_positions[i].z, min(right_positions[i].y, last_depth));
    }
  }

  // registers
  var total: array<vec4<Value>, 4>;
  // registers
  var part: array<vec4<Value>, 4>;
  // unroll
  for (var c = 0u; c < 4u; c++) {
    total[c] = vec4<Value>(identity());
  }
  for (var depth = 0u; depth < parameters.depth; depth += DEPTH) {
    // choose
    if (IS_AHEAD == false) {
      // unroll
      for (var i = 0u; i < LEFT_LOADS; i++) {
        left_next[i] = left_vector(min(first_batch + left_positions[i].x, last_batch), first_row, left_positions[i].z, min(depth + left_positions[i].y, last_depth));
      }
      // unroll
      for (var i = 0u; i < RIGHT_LOADS; i++) {
        right_next[i] = right_vector(min(first_batch + right_positions[i].x, last_batch), first_column, right_positions[i].z, min(depth + right_positions[i].y, last_depth));
      }
    }
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      if (local + i * THREADS < left_count) {
        left_tile[(left_positions[i].x * DEPTH + left_positions[i].y) * parameters.left_width + left_positions[i].z] = left_next[i];
      }
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      if (local + i * THREADS < right_count) {
        right_tile[(right_positions[i].x * DEPTH + right_positions[i].y) * parameters.right_width + right_positions[i].z] = right_next[i];
      }
    }
    workgroupBarrier();
    // choose
    if (IS_AHEAD) {
      let next = depth + DEPTH;
      if (next < parameters.depth) {
        // unroll
        for (var i = 0u; i < LEFT_LOADS; i++) {
          left_next[i] = left_vector(min(first_batch + left_positions[i].x, last_batch), first_row, left_positions[i].z, min(next + left_positions[i].y, last_depth));
        }
        // unroll
        for (var i = 0u; i < RIGHT_LOADS; i++) {
          right_next[i] = right_vector(min(first_batch + right_positions[i].x, last_batch), first_column, right_positions[i].z, min(next + right_positions[i].y, last_depth));
        }
      }
    }

    // The terms of one pair of tiles have a total of their own, so that long sums stay
    // as exact as short ones.
    // unroll
    for (var c = 0u; c < 4u; c++) {
      part[c] = vec4<Value>(identity());
    }
    let deep = min(parameters.depth - depth, DEPTH);
    var d = 0u;
    for (; d + UNROLLED <= deep; d += UNROLLED) {
      // unroll
      for (var u = 0u; u < UNROLLED; u++) {
        let a = left_tile[left_at + (d + u) * parameters.left_width];
        let b = right_tile[right_at + (d + u) * parameters.right_width];
        // unroll
        for (var c = 0u; c < 4u; c++) {
          part[c] = accumulate(part[c], a[c], b);
        }
      }
    }
    // choose
    if (UNROLLED > 1u) {
      for (; d < deep; d++) {
        let a = left_tile[left_at + d * parameters.left_width];
        let b = right_tile[right_at + d * parameters.right_width];
        // unroll
        for (var c = 0u; c < 4u; c++) {
          part[c] = accumulate(part[c], a[c], b);
        }
      }
    }
    // unroll
    for (var c = 0u; c < 4u; c++) {
      total[c] = combine_four(total[c], part[c]);
    }
    workgroupBarrier();
  }

  let batch = first_batch + matrix;
  if (matrix < parameters.matrices && batch < parameters.batch) {
    // unroll
    for (var c = 0u; c < 4u; c++) {
      store(batch, first_row + left_inside(down, c), first_column + right_inside(across, 0u), total[c]);
    }
  }
}
