// Matrix products of float16 by the GPU's matrix units: sums are float32.
//
//   load      eight elements at a time, from memory into registers
//   stage     registers → the tiles of both operands in workgroup memory
//   multiply  a subgroup's matrices of 16 × 16 of the left tile by those of the right one
//   store     sums, through workgroup memory, after the epilogue
//
// A tile has the layout of its operand: lines along the depth, or along rows or columns.
// Eight elements of padding per line put the lines of a matrix into different banks. The
// slots hold the text for two operands in row-major order whose sizes are multiples of
// eight. Needs the features shader-f16, subgroups, chromium-experimental-subgroup-matrix,
// and subgroups of 32 threads with consecutive indices.

diagnostic(off, chromium.subgroup_matrix_uniformity);

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  columns: u32,
  depth: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> input1: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<f16>>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: left() and right() of eight neighbouring halves, store() of four sums
fn left(batch: u32, row: u32, depth: u32) -> vec4<u32> {
  return input0[((batch * parameters.rows + row) * parameters.depth + depth) / 8u];
}
fn right(batch: u32, depth: u32, column: u32) -> vec4<u32> {
  return input1[((batch * parameters.depth + depth) * parameters.columns + column) / 8u];
}
fn store(batch: u32, row: u32, column: u32, values: vec4<f32>) {
  if (row < parameters.rows && column < parameters.columns) {
    let index = (batch * parameters.rows + row) * parameters.columns + column;
    result[index / 4u] = vec4<f16>(values);
  }
}
// end functions

// slot tile: sizes of the tile and of a subgroup's part, and the layout of the operands
const ROWS: u32 = 128u;
const COLUMNS: u32 = 128u;
const DOWN: u32 = 2u;
const ACROSS: u32 = 2u;
const ROW_MATRICES: u32 = 4u;
const COLUMN_MATRICES: u32 = 4u;
const ACCUMULATORS: u32 = 16u;
const LEFT_ALONG_DEPTH: bool = true;
const LEFT_LINE: u32 = 32u;
const LEFT_LOADS: u32 = 4u;
const RIGHT_ALONG_DEPTH: bool = false;
const RIGHT_LINE: u32 = 128u;
const RIGHT_LOADS: u32 = 4u;
const IS_WHOLE: bool = false;
// end tile

const DEPTH: u32 = 32u;
const THREADS: u32 = DOWN * ACROSS * 32u;
const GAP: u32 = 8u;
const LEFT_SIZE: u32 = ROWS * DEPTH / LEFT_LINE * (LEFT_LINE + GAP);
const RIGHT_SIZE: u32 = COLUMNS * DEPTH / RIGHT_LINE * (RIGHT_LINE + GAP);
const SUMS_LINE: u32 = 20u;

alias Left = subgroup_matrix_left<f16, 16, 16>;
alias Right = subgroup_matrix_right<f16, 16, 16>;
alias Sums = subgroup_matrix_result<f32, 16, 16>;

var<workgroup> left_tile: array<f16, LEFT_SIZE>;
var<workgroup> right_tile: array<f16, RIGHT_SIZE>;
var<workgroup> sums: array<f32, DOWN * ACROSS * 16u * SUMS_LINE>;

// Past the last row or column the last one is read again: its results are not stored. Past
// the last term elements are zero; if the tiles are whole, the last one is read again.
fn next_left(batch: u32, first_row: u32, begin: u32, number: u32) -> vec4<u32> {
  let line = number / (LEFT_LINE / 8u);
  let offset = number % (LEFT_LINE / 8u) * 8u;
  // choose
  if (LEFT_ALONG_DEPTH) {
    let row = min(first_row + line, parameters.rows - 1u);
    // choose
    if (IS_WHOLE) {
      return left(batch, row, min(begin, parameters.depth - DEPTH) + offset);
    } else {
      let k = begin + offset;
      return select(vec4<u32>(), left(batch, row, min(k, parameters.depth - 8u)), k < parameters.depth);
    }
  } else {
    let row = min(first_row + offset, parameters.rows - 8u);
    // choose
    if (IS_WHOLE) {
      return left(batch, row, min(begin, parameters.depth - DEPTH) + line);
    } else {
      let k = begin + line;
      return select(vec4<u32>(), left(batch, row, min(k, parameters.depth - 1u)), k < parameters.depth);
    }
  }
}

fn next_right(batch: u32, first_column: u32, begin: u32, number: u32) -> vec4<u32> {
  let line = number / (RIGHT_LINE / 8u);
  let offset = number % (RIGHT_LINE / 8u) * 8u;
  // choose
  if (RIGHT_ALONG_DEPTH) {
    let column = min(first_column + line, parameters.columns - 1u);
    // choose
    if (IS_WHOLE) {
      return right(batch, min(begin, parameters.depth - DEPTH) + offset, column);
    } else {
      let k = begin + offset;
      return select(vec4<u32>(), right(batch, min(k, parameters.depth - 8u), column), k < parameters.depth);
    }
  } else {
    let column = min(first_column + offset, parameters.columns - 8u);
    // choose
    if (IS_WHOLE) {
      return right(batch, min(begin, parameters.depth - DEPTH) + line, column);
    } else {
      let k = begin + line;
      return select(vec4<u32>(), right(batch, min(k, parameters.depth - 1u), column), k < parameters.depth);
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let tiles_down = (parameters.rows + ROWS - 1u) / ROWS;
  let tiles_across = (parameters.columns + COLUMNS - 1u) / COLUMNS;
  let block = group.y * groups.x + group.x;
  let first_column = (block % tiles_across) * COLUMNS;
  let first_row = ((block / tiles_across) % tiles_down) * ROWS;
  let batch = block / (tiles_across * tiles_down);
  let subgroup = local / 32u;
  let lane = local % 32u;
  let down = subgroup / ACROSS * (ROW_MATRICES * 16u);
  let across = subgroup % ACROSS * (COLUMN_MATRICES * 16u);

  // registers
  var left_next: array<vec4<u32>, LEFT_LOADS>;
  // registers
  var right_next: array<vec4<u32>, RIGHT_LOADS>;
  // registers
  var accumulators: array<Sums, ACCUMULATORS>;
  // registers
  var a: array<Left, ROW_MATRICES>;

  // unroll
  for (var i = 0u; i < LEFT_LOADS; i++) {
    left_next[i] = next_left(batch, first_row, 0u, local + i * THREADS);
  }
  // unroll
  for (var i = 0u; i < RIGHT_LOADS; i++) {
    right_next[i] = next_right(batch, first_column, 0u, local + i * THREADS);
  }
  for (var depth = 0u; depth < parameters.depth; depth += DEPTH) {
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      let number = local + i * THREADS;
      let at = number / (LEFT_LINE / 8u) * (LEFT_LINE + GAP) + number % (LEFT_LINE / 8u) * 8u;
      // unroll
      for (var c = 0u; c < 4u; c++) {
        let pair = bitcast<vec2<f16>>(left_next[i][c]);
        left_tile[at + 2u * c] = pair.x;
        left_tile[at + 2u * c + 1u] = pair.y;
      }
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      let number = local + i * THREADS;
      let at = number / (RIGHT_LINE / 8u) * (RIGHT_LINE + GAP) + number % (RIGHT_LINE / 8u) * 8u;
      // unroll
      for (var c = 0u; c < 4u; c++) {
        let pair = bitcast<vec2<f16>>(right_next[i][c]);
        right_tile[at + 2u * c] = pair.x;
        right_tile[at + 2u * c + 1u] = pair.y;
      }
    }
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      left_next[i] = next_left(batch, first_row, depth + DEPTH, local + i * THREADS);
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      right_next[i] = next_right(batch, first_column, depth + DEPTH, local + i * THREADS);
    }
    // unroll
    for (var k = 0u; k < DEPTH; k += 16u) {
      // unroll
      for (var i = 0u; i < ROW_MATRICES; i++) {
        // choose
        if (LEFT_ALONG_DEPTH) {
          a[i] = subgroupMatrixLoad<Left, row_major>(&left_tile, (down + i * 16u) * (LEFT_LINE + GAP) + k, LEFT_LINE + GAP);
        } else {
          a[i] = subgroupMatrixLoad<Left, col_major>(&left_tile, k * (LEFT_LINE + GAP) + down + i * 16u, LEFT_LINE + GAP);
        }
      }
      // unroll
      for (var j = 0u; j < COLUMN_MATRICES; j++) {
        var b: Right;
        // choose
        if (RIGHT_ALONG_DEPTH) {
          b = subgroupMatrixLoad<Right, col_major>(&right_tile, (across + j * 16u) * (RIGHT_LINE + GAP) + k, RIGHT_LINE + GAP);
        } else {
          b = subgroupMatrixLoad<Right, row_major>(&right_tile, k * (RIGHT_LINE + GAP) + across + j * 16u, RIGHT_LINE + GAP);
        }
        // unroll
        for (var i = 0u; i < ROW_MATRICES; i++) {
          accumulators[i * COLUMN_MATRICES + j] = subgroupMatrixMultiplyAccumulate(a[i], b, accumulators[i * COLUMN_MATRICES + j]);
        }
      }
    }
    workgroupBarrier();
  }

  // Each subgroup has workgroup memory for one matrix of sums: with more, no second
  // workgroup would fit the core.
  let own = subgroup * 16u * SUMS_LINE;
  // unroll
  for (var i = 0u; i < ROW_MATRICES; i++) {
    // unroll
    for (var j = 0u; j < COLUMN_MATRICES; j++) {
      workgroupBarrier();
      subgroupMatrixStore<row_major>(&sums, own, accumulators[i * COLUMN_MATRICES + j], SUMS_LINE);
      workgroupBarrier();
      for (var n = lane * 4u; n < 256u; n += 128u) {
        let at = own + n / 16u * SUMS_LINE + n % 16u;
        let values = vec4<f32>(sums[at], sums[at + 1u], sums[at + 2u], sums[at + 3u]);
        store(batch, first_row + down + i * 16u + n / 16u, first_column + across + j * 16u + n % 16u, values);
      }
    }
  }
}
