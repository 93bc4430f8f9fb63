// Windows: a thread computes four neighbouring results, of ROWS channels each or in LINES
// lines.
//
//   read      0  1  2  3  4  5       SPAN elements of one line of the windows, each once
//   result 0  ▒  ▒  ▒                result i meets element i · STEP + k · DILATION at
//   result 1     ▒  ▒  ▒             index k of the window's last axis, SIZE long
//   result 2        ▒  ▒  ▒
//   result 3           ▒  ▒  ▒       a window has `iterations` times TALL lines, from the
//                                    channels and other axes; LINES results below each
//                                    other share HEIGHT lines in the same way
//
// For convolutions with few channels in a group, whose product of matrices would leave
// most of a tile empty. The slots hold a convolution of lines without borders.

// slot declarations: parameters and storages
struct Parameters {
  units: u32,
  iterations: u32,
  quads: u32,
  length: u32,
  columns: u32,
  rows: u32,
  blocks: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> input1: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot shape: sizes of a window's last axes and of a thread's results
const ROWS: u32 = 2u;
const SIZE: u32 = 3u;
const STEP: u32 = 1u;
const DILATION: u32 = 1u;
const SPAN: u32 = 6u;
const LINES: u32 = 1u;
const TALL: u32 = 1u;
const RISE: u32 = 1u;
const SPREAD: u32 = 1u;
const HEIGHT: u32 = 1u;
// end shape

// slot functions: Value; addresses and elements of windows, weights; how both are
// accumulated, and how results are stored
alias Value = f32;
struct RightPosition {
  p0: i32,
}
fn fixed_at(batch: u32, column: u32) -> RightPosition {
  return RightPosition(i32(batch * parameters.length + column));
}
fn moving_at(depth: u32) -> RightPosition {
  return RightPosition(i32(depth));
}
fn element(fixed: RightPosition, moving: RightPosition, across: i32, along: i32) -> Value {
  return input0[fixed.p0 + moving.p0 + along];
}
fn weight(batch: u32, row: u32, column: u32, depth: u32) -> Value {
  return input1[row * parameters.iterations * SIZE + depth];
}
fn accumulate(total: vec4<Value>, weight: Value, four: vec4<Value>) -> vec4<Value> {
  return fma(vec4<Value>(weight), four, total);
}
fn store(batch: u32, row: u32, column: u32, first: u32, totals: vec4<Value>) {
  let index = (batch * parameters.rows + row) * parameters.columns + column;
  for (var i = 0u; i < min(parameters.length - first, 4u); i++) {
    result[index + i] = totals[i];
  }
}
// end functions

@compute @workgroup_size(128)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let unit = (group.y * groups.x + group.x) * 128u + local;
  if (unit >= parameters.units) {
    return;
  }
  // Lines of results, blocks of rows, batch.
  let first = unit % parameters.quads * 4u;
  let lines_of_results = parameters.columns / parameters.length / LINES;
  let line = unit / parameters.quads;
  let block = line / lines_of_results;
  let column = line % lines_of_results * LINES * parameters.length + first;
  let first_row = block % parameters.blocks * ROWS;
  let batch = block / parameters.blocks;

  let fixed = fixed_at(batch, column);
  // registers
  var total: array<array<vec4<Value>, ROWS>, LINES>;
  // registers
  var seen: array<Value, SPAN>;
  // unroll
  for (var o = 0u; o < LINES; o++) {
    // unroll
    for (var r = 0u; r < ROWS; r++) {
      total[o][r] = vec4<Value>();
    }
  }
  for (var iteration = 0u; iteration < parameters.iterations; iteration++) {
    let moving = moving_at(iteration * TALL * SIZE);
    // unroll
    for (var h = 0u; h < HEIGHT; h++) {
      // unroll
      for (var s = 0u; s < SPAN; s++) {
        seen[s] = element(fixed, moving, i32(h), i32(s));
      }
      // unroll
      for (var o = 0u; o < LINES; o++) {
        // unroll
        for (var t = 0u; t < TALL; t++) {
          // choose
          if (o * RISE + t * SPREAD == h) {
            // unroll
            for (var k = 0u; k < SIZE; k++) {
              let four = vec4<Value>(seen[k * DILATION], seen[STEP + k * DILATION], seen[2u * STEP + k * DILATION], seen[3u * STEP + k * DILATION]);
              // unroll
              for (var r = 0u; r < ROWS; r++) {
                total[o][r] = accumulate(total[o][r], weight(batch, min(first_row + r, parameters.rows - 1u), column, (iteration * TALL + t) * SIZE + k), four);
              }
            }
          }
        }
      }
    }
  }
  // unroll
  for (var r = 0u; r < ROWS; r++) {
    if (first_row + r < parameters.rows) {
      // unroll
      for (var o = 0u; o < LINES; o++) {
        store(batch, first_row + r, column + o * parameters.length, first, total[o][r]);
      }
    }
  }
}
