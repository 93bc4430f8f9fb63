// Matrix products: a workgroup computes one tile of the result, DEPTH terms at a time.
//
// Both operands' tiles lie in workgroup memory depth first, four neighbouring rows or
// columns to a vector. While one pair of tiles is multiplied, the next is on its way
// from memory into registers. Each slice of WORKERS threads multiplies a part of the
// depth; in the end slices add their sums. The slots hold the text for one size of tile;
// the text here is for 32 × 32 outputs and one slice of 64 threads, 4 × 4 sums each.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  columns: u32,
  depth: u32,
  split_depth: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, left(), right() and store() of four neighbouring sums
alias Value = f32;
fn left(batch: u32, row: u32, depth: u32) -> Value {
  return input0[(batch * parameters.rows + row) * parameters.depth + depth];
}
fn right(batch: u32, depth: u32, column: u32) -> Value {
  return input1[(batch * parameters.depth + depth) * parameters.columns + column];
}
fn store(split: u32, batch: u32, row: u32, column: u32, sums: vec4<Value>) {
  if (row < parameters.rows) {
    let index = (batch * parameters.rows + row) * parameters.columns + column;
    for (var i = 0u; i < 4u && column + i < parameters.columns; i += 1u) {
      result[index + i] = sums[i];
    }
  }
}
// end functions

// slot tile: sizes of the tile and of its workgroup
const ROWS: u32 = 32u;
const COLUMNS: u32 = 32u;
const DEPTH: u32 = 8u;
const ACROSS: u32 = 8u;
const WORKERS: u32 = 64u;
const SLICES: u32 = 1u;
const VECTORS: u32 = 128u;
const WARP: u32 = 32u;
const WARP_ACROSS: u32 = 8u;
// end tile

var<workgroup> tile: array<vec4<Value>, VECTORS>;

@compute @workgroup_size(WORKERS * SLICES)
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
  let slice = local / WORKERS;
  // Neighbouring threads form blocks of 8 × 4, which read few different vectors.
  let warp = local % WORKERS / WARP * WARP_ACROSS;
  let across = warp % ACROSS + local % WARP_ACROSS;
  let down = warp / ACROSS * (WARP / WARP_ACROSS) + local / WARP_ACROSS % (WARP / WARP_ACROSS);

  // slot body: registers, the loop over depth, and the stores
  var sums0 = vec4<Value>();
  var sums1 = vec4<Value>();
  var sums2 = vec4<Value>();
  var sums3 = vec4<Value>();
  for (var depth = begin; depth < end; depth += DEPTH) {
    let row = local % 8u;
    let k = local / 8u;
    var a = vec4<Value>();
    var b = vec4<Value>();
    for (var i = 0u; i < 4u; i += 1u) {
      if (first_row + row * 4u + i < parameters.rows && depth + k < end) {
        a[i] = left(batch, first_row + row * 4u + i, depth + k);
      }
      if (first_column + row * 4u + i < parameters.columns && depth + k < end) {
        b[i] = right(batch, depth + k, first_column + row * 4u + i);
      }
    }
    tile[k * 8u + row] = a;
    tile[64u + k * 8u + row] = b;
    workgroupBarrier();
    for (var i = 0u; i < DEPTH; i += 1u) {
      let a_rows = tile[i * 8u + down];
      let b_columns = tile[64u + i * 8u + across];
      sums0 = fma(vec4<Value>(a_rows.x), b_columns, sums0);
      sums1 = fma(vec4<Value>(a_rows.y), b_columns, sums1);
      sums2 = fma(vec4<Value>(a_rows.z), b_columns, sums2);
      sums3 = fma(vec4<Value>(a_rows.w), b_columns, sums3);
    }
    workgroupBarrier();
  }
  let row = first_row + down * 4u;
  let column = first_column + across * 4u;
  store(split, batch, row, column, sums0);
  store(split, batch, row + 1u, column, sums1);
  store(split, batch, row + 2u, column, sums2);
  store(split, batch, row + 3u, column, sums3);
  // end body
}
