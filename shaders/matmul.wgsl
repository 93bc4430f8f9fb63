// Matrix products: a workgroup computes one tile of the result, DEPTH terms at a time.
//
//                  right: depth × columns      load      vectors of the next tiles, from
//                      ┌──────────────┐                  memory into registers
//                      │ DEPTH ×      │        stage     registers → `tile`, the tiles of
//                      │ COLUMNS      │                  both operands in workgroup memory
//  left: rows × depth  └──────────────┘        multiply  a thread's rows of the left tile
//  ┌──────────────┐    ┌──────────────┐                  by its columns of the right one
//  │ ROWS × DEPTH │    │ ROWS ×       │        store     its accumulators, finished
//  └──────────────┘    │ COLUMNS      │
//                      └──────────────┘        Loads overlap the multiplication.
//
// Tiles are depth-major, four rows or columns to a vector. Each slice of WORKERS threads
// multiplies a part of the depth; at the end slices add their accumulators. The slots
// hold the text for two operands in row-major order whose sizes are multiples of four.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  columns: u32,
  depth: u32,
  split_depth: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> input1: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, left(), right() and store() of four neighbouring values
alias Value = f32;
fn left(batch: u32, row: u32, depth: u32) -> vec4<Value> {
  return input0[(batch * parameters.rows + row) * (parameters.depth / 4u) + depth];
}
fn right(batch: u32, depth: u32, column: u32) -> vec4<Value> {
  return input1[(batch * parameters.depth + depth) * (parameters.columns / 4u) + column];
}
fn store(split: u32, batch: u32, row: u32, column: u32, values: vec4<Value>) {
  if (row < parameters.rows && column < parameters.columns) {
    let index = (batch * parameters.rows + row) * parameters.columns + column;
    result[index / 4u] = values;
  }
}
// end functions

// slot tile: sizes of the tile, of its workgroup, and of one thread's part
const ROWS: u32 = 64u;
const COLUMNS: u32 = 64u;
const DEPTH: u32 = 16u;
const SLICES: u32 = 1u;
const WORKERS: u32 = 128u;
const DOWN: u32 = 8u;
const ACROSS: u32 = 16u;
const WARP: u32 = 32u;
const WARP_ACROSS: u32 = 8u;
const ROW_VECTORS: u32 = 2u;
const COLUMN_VECTORS: u32 = 1u;
const ACCUMULATORS: u32 = 8u;
const PARTIALS: u32 = 4u;
const SHARE: u32 = 4u;
const UNROLLED: u32 = 16u;
const VECTORS: u32 = 520u;
const LEFT_START: u32 = 0u;
const LEFT_WIDTH: u32 = 16u;
const LEFT_PADDING: u32 = 2u;
const LEFT_LOADS: u32 = 2u;
const LEFT_STEP: u32 = 4u;
const LEFT_APART: u32 = 1u;
const RIGHT_START: u32 = 264u;
const RIGHT_WIDTH: u32 = 16u;
const RIGHT_PADDING: u32 = 0u;
const RIGHT_LOADS: u32 = 2u;
const RIGHT_STEP: u32 = 4u;
const RIGHT_APART: u32 = 1u;
const HAS_FMA: bool = true;
// end tile

const THREADS: u32 = WORKERS * SLICES;
var<workgroup> tile: array<vec4<Value>, VECTORS>;

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let tiles_down = (parameters.rows + ROWS - 1u) / ROWS;
  let tiles_across = (parameters.columns + COLUMNS - 1u) / COLUMNS;
  let splits = (parameters.depth + parameters.split_depth - 1u) / parameters.split_depth;
  let block = group.y * groups.x + group.x;
  let first_column = (block % tiles_across) * COLUMNS;
  let first_row = ((block / tiles_across) % tiles_down) * ROWS;
  let layer = block / (tiles_across * tiles_down);
  let split = layer % splits;
  let batch = layer / splits;
  let begin = split * parameters.split_depth;
  let end = min(begin + parameters.split_depth, parameters.depth);
  // Neighbouring threads form blocks of 8 × 4, which read few different vectors.
  let warp = local % WORKERS / WARP * WARP_ACROSS;
  let across = warp % ACROSS + local % WARP_ACROSS;
  let down = warp / ACROSS * (WARP / WARP_ACROSS) + local / WARP_ACROSS % (WARP / WARP_ACROSS);
  let slice = local / WORKERS % SLICES;

  // Neighbouring threads read neighbouring vectors. If vectors extend along depth, four to
  // a row, each component is stored at another depth of the tile, in another bank.
  // slot sources: the address and the target of each load
  // registers
  var left_next: array<vec4<Value>, LEFT_LOADS>;
  // registers
  var left_number: array<u32, LEFT_LOADS>;
  // registers
  var left_row: array<u32, LEFT_LOADS>;
  // registers
  var left_depth: array<u32, LEFT_LOADS>;
  // registers
  var left_inside: array<u32, LEFT_LOADS>;
  // registers
  var left_address: array<u32, LEFT_LOADS>;
  // unroll
  for (var i = 0u; i < LEFT_LOADS; i++) {
    left_number[i] = local + i * THREADS;
    left_inside[i] = left_number[i] / 4u % ROWS;
    left_row[i] = min(first_row + left_inside[i], parameters.rows - 1u);
    left_depth[i] = (left_number[i] % 4u + left_number[i] / (4u * ROWS) * 4u) * 4u;
    left_address[i] = LEFT_START + left_depth[i] * LEFT_WIDTH + left_depth[i] / 4u * LEFT_PADDING + left_inside[i] / 4u;
  }
  // registers
  var right_next: array<vec4<Value>, RIGHT_LOADS>;
  // registers
  var right_number: array<u32, RIGHT_LOADS>;
  // registers
  var right_column: array<u32, RIGHT_LOADS>;
  // registers
  var right_depth: array<u32, RIGHT_LOADS>;
  // unroll
  for (var i = 0u; i < RIGHT_LOADS; i++) {
    right_number[i] = local + i * THREADS;
    right_depth[i] = right_number[i] / RIGHT_WIDTH;
    right_column[i] = min(first_column + right_number[i] % RIGHT_WIDTH * 4u, parameters.columns - 4u);
  }
  // end sources

  // registers
  var accumulators: array<vec4<Value>, ACCUMULATORS>;
  // registers
  var a: array<vec4<Value>, ROW_VECTORS>;
  // registers
  var b: array<vec4<Value>, COLUMN_VECTORS>;

  let next = begin;
  // slot load_first: the tiles that begin at `next`; zeros past the last term
  if (next + DEPTH <= end) {
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      left_next[i] = left(batch, left_row[i], (next + left_depth[i]) / 4u);
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      right_next[i] = right(batch, next + right_depth[i], right_column[i] / 4u);
    }
  } else {
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      let k = next + left_depth[i];
      left_next[i] = select(vec4<Value>(), left(batch, left_row[i], min(k, end - 4u) / 4u), k < end);
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      let k = next + right_depth[i];
      right_next[i] = select(vec4<Value>(), right(batch, min(k, end - 1u), right_column[i] / 4u), k < end);
    }
  }
  // end load_first
  for (var depth = begin; depth < end; depth += DEPTH) {
    // slot stage: store the loaded vectors in the tiles
    // unroll
    for (var i = 0u; i < LEFT_LOADS; i++) {
      // unroll
      for (var c = 0u; c < 4u; c++) {
        tile[left_address[i] + c * LEFT_WIDTH][left_inside[i] % 4u] = left_next[i][c];
      }
    }
    // unroll
    for (var i = 0u; i < RIGHT_LOADS; i++) {
      tile[RIGHT_START + right_number[i]] = right_next[i];
    }
    // end stage
    workgroupBarrier();
    let next = depth + DEPTH;
    if (next < end) {
      // slot load_next: as above
      if (next + DEPTH <= end) {
        // unroll
        for (var i = 0u; i < LEFT_LOADS; i++) {
          left_next[i] = left(batch, left_row[i], (next + left_depth[i]) / 4u);
        }
        // unroll
        for (var i = 0u; i < RIGHT_LOADS; i++) {
          right_next[i] = right(batch, next + right_depth[i], right_column[i] / 4u);
        }
      } else {
        // unroll
        for (var i = 0u; i < LEFT_LOADS; i++) {
          let k = next + left_depth[i];
          left_next[i] = select(vec4<Value>(), left(batch, left_row[i], min(k, end - 4u) / 4u), k < end);
        }
        // unroll
        for (var i = 0u; i < RIGHT_LOADS; i++) {
          let k = next + right_depth[i];
          right_next[i] = select(vec4<Value>(), right(batch, min(k, end - 1u), right_column[i] / 4u), k < end);
        }
      }
      // end load_next
    }

    // Multiply: a slice has its own part of the tiles' depth.
    // unroll if UNROLLED * SLICES == DEPTH
    for (var part = 0u; part < DEPTH / SLICES; part += UNROLLED) {
      let k = slice * (DEPTH / SLICES) + part;
      let left_k = LEFT_START + k * LEFT_WIDTH + k / 4u * LEFT_PADDING + down;
      let right_k = RIGHT_START + k * RIGHT_WIDTH + k / 4u * RIGHT_PADDING + across;
      // unroll
      for (var d = 0u; d < UNROLLED; d++) {
        // unroll
        for (var i = 0u; i < ROW_VECTORS; i++) {
          a[i] = tile[left_k + (d * LEFT_WIDTH + d / 4u * LEFT_PADDING + i * DOWN)];
        }
        // unroll
        for (var j = 0u; j < COLUMN_VECTORS; j++) {
          b[j] = tile[right_k + (d * RIGHT_WIDTH + d / 4u * RIGHT_PADDING + j * ACROSS)];
        }
        // unroll
        for (var i = 0u; i < 4u * ROW_VECTORS; i++) {
          // unroll
          for (var j = 0u; j < COLUMN_VECTORS; j++) {
            // choose
            if (HAS_FMA) {
              accumulators[i * COLUMN_VECTORS + j] = fma(vec4<Value>(a[i / 4u][i % 4u]), b[j], accumulators[i * COLUMN_VECTORS + j]);
            } else {
              accumulators[i * COLUMN_VECTORS + j] += vec4<Value>(a[i / 4u][i % 4u]) * b[j];
            }
          }
        }
      }
    }
    workgroupBarrier();
  }

  // Store. The rows or columns of a vector are adjacent, or, for operands that are read
  // by element, as far apart as the tile has vectors.
  // choose
  if (SLICES == 1u) {
    // unroll
    for (var i = 0u; i < 4u * ROW_VECTORS; i++) {
      // unroll
      for (var j = 0u; j < COLUMN_VECTORS; j++) {
        store(split, batch, first_row + (down + i / 4u * DOWN) * LEFT_STEP + i % 4u * LEFT_APART, first_column + (across + j * ACROSS) * RIGHT_STEP, accumulators[i * COLUMN_VECTORS + j]);
      }
    }
  } else {
    // Slices add their accumulators in the memory of the tiles, and each stores a part.
    let worker = local % WORKERS;
    // unroll
    for (var first = 0u; first < ACCUMULATORS; first += PARTIALS) {
      // choose
      if (first > 0u) {
        workgroupBarrier();
      }
      // unroll
      for (var n = 0u; n < PARTIALS; n++) {
        tile[(slice * PARTIALS + n) * WORKERS + worker] = accumulators[first + n];
      }
      workgroupBarrier();
      // unroll
      for (var own = 0u; own < SHARE; own++) {
        let n = slice * SHARE + own;
        // choose
        if (SLICES <= PARTIALS || n < PARTIALS) {
          var total = tile[n * WORKERS + worker];
          // unroll
          for (var other = 1u; other < SLICES; other++) {
            total += tile[(other * PARTIALS + n) * WORKERS + worker];
          }
          let i = (first + n) / COLUMN_VECTORS;
          let j = (first + n) % COLUMN_VECTORS;
          store(split, batch, first_row + (down + i / 4u * DOWN) * LEFT_STEP + i % 4u * LEFT_APART, first_column + (across + j * ACROSS) * RIGHT_STEP, total);
        }
      }
    }
  }
}
