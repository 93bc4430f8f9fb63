// Matrix products: a workgroup of 256 threads computes a tile of 64 × 64 outputs.
//
// Tiles of both operands, 16 deep, are staged in workgroup memory; each thread keeps
// 4 × 4 sums in registers. Operands are read through functions, so any view and any
// fused prologue works without a copy, and `store` carries the fused epilogue.

// slot declarations: parameters and storages
struct Parameters {
  batch: u32,
  rows: u32,
  columns: u32,
  depth: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, left(), right(), multiply_add() and store()
alias Value = f32;
fn left(batch: u32, row: u32, depth: u32) -> Value {
  return input0[(batch * parameters.rows + row) * parameters.depth + depth];
}
fn right(batch: u32, depth: u32, column: u32) -> Value {
  return input1[(batch * parameters.depth + depth) * parameters.columns + column];
}
fn multiply_add(a: Value, b: vec4<Value>, sum: vec4<Value>) -> vec4<Value> {
  return fma(vec4<Value>(a), b, sum);
}
fn store(index: u32, core: Value) {
  result[index] = core;
}
// end functions

const TILE: u32 = 64u;
const DEPTH: u32 = 16u;

// Both tiles lie depth first; four neighbouring rows or columns are one vector.
var<workgroup> left_tile: array<vec4<Value>, 256>;
var<workgroup> right_tile: array<vec4<Value>, 256>;

fn left_or_zero(batch: u32, row: u32, depth: u32) -> Value {
  if (row < parameters.rows && depth < parameters.depth) {
    return left(batch, row, depth);
  }
  return Value(0);
}

fn right_or_zero(batch: u32, depth: u32, column: u32) -> Value {
  if (column < parameters.columns && depth < parameters.depth) {
    return right(batch, depth, column);
  }
  return Value(0);
}

fn store_row(batch: u32, row: u32, column: u32, sums: vec4<Value>) {
  if (row < parameters.rows) {
    let index = (batch * parameters.rows + row) * parameters.columns + column;
    if (column < parameters.columns) {
      store(index, sums.x);
    }
    if (column + 1u < parameters.columns) {
      store(index + 1u, sums.y);
    }
    if (column + 2u < parameters.columns) {
      store(index + 2u, sums.z);
    }
    if (column + 3u < parameters.columns) {
      store(index + 3u, sums.w);
    }
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let tiles_down = (parameters.rows + TILE - 1u) / TILE;
  let tiles_across = (parameters.columns + TILE - 1u) / TILE;
  let block = group.y * groups.x + group.x;
  let batch = block / (tiles_down * tiles_across);
  let first_row = ((block / tiles_across) % tiles_down) * TILE;
  let first_column = (block % tiles_across) * TILE;
  let is_inside = batch < parameters.batch;
  // Where this thread's part of the tiles comes from: one vector of each per step.
  let left_row = first_row + (local / DEPTH) * 4u;
  let left_depth = local % DEPTH;
  let right_column = first_column + (local % 16u) * 4u;
  let right_depth = local / 16u;
  let row = local / 16u;
  let column = local % 16u;
  var sums0 = vec4<Value>(Value(0));
  var sums1 = vec4<Value>(Value(0));
  var sums2 = vec4<Value>(Value(0));
  var sums3 = vec4<Value>(Value(0));
  for (var begin = 0u; begin < parameters.depth; begin += DEPTH) {
    var a = vec4<Value>(Value(0));
    var b = vec4<Value>(Value(0));
    if (is_inside) {
      let k = begin + left_depth;
      a.x = left_or_zero(batch, left_row, k);
      a.y = left_or_zero(batch, left_row + 1u, k);
      a.z = left_or_zero(batch, left_row + 2u, k);
      a.w = left_or_zero(batch, left_row + 3u, k);
      let d = begin + right_depth;
      b.x = right_or_zero(batch, d, right_column);
      b.y = right_or_zero(batch, d, right_column + 1u);
      b.z = right_or_zero(batch, d, right_column + 2u);
      b.w = right_or_zero(batch, d, right_column + 3u);
    }
    left_tile[left_depth * 16u + local / DEPTH] = a;
    right_tile[local] = b;
    workgroupBarrier();
    for (var k = 0u; k < DEPTH; k += 1u) {
      let a_rows = left_tile[k * 16u + row];
      let b_columns = right_tile[k * 16u + column];
      sums0 = multiply_add(a_rows.x, b_columns, sums0);
      sums1 = multiply_add(a_rows.y, b_columns, sums1);
      sums2 = multiply_add(a_rows.z, b_columns, sums2);
      sums3 = multiply_add(a_rows.w, b_columns, sums3);
    }
    workgroupBarrier();
  }
  if (is_inside) {
    let out_row = first_row + row * 4u;
    let out_column = first_column + column * 4u;
    store_row(batch, out_row, out_column, sums0);
    store_row(batch, out_row + 1u, out_column, sums1);
    store_row(batch, out_row + 2u, out_column, sums2);
    store_row(batch, out_row + 3u, out_column, sums3);
  }
}
