// Reductions: LANES threads share one output, COLUMNS outputs share a workgroup.
//
// Each thread combines every LANES-th term of its output's chunk, then the totals of the
// lanes are combined in a tree, in groups if there are many. With several chunks
// (`splits`) the result holds partial values of shape (output, chunk), which a second
// launch reduces.

// slot declarations: parameters and storages
struct Parameters {
  outputs: u32,
  length: u32,
  splits: u32,
  chunk: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot shape: lanes and columns, their product is 256
const LANES: u32 = 256u;
const COLUMNS: u32 = 1u;
// end shape

// slot functions: Value, identity(), term(), combine() and store()
alias Value = f32;
fn identity() -> Value {
  return parameters.identity;
}
fn term(output: u32, position: u32) -> Value {
  return input0[output * parameters.length + position];
}
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
fn store(output: u32, chunk: u32, total: Value) {
  result[output * parameters.splits + chunk] = total;
}
// end functions

var<workgroup> totals: array<Value, 256>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let block = group.y * groups.x + group.x;
  let chunk = block % parameters.splits;
  let output = (block / parameters.splits) * COLUMNS + local % COLUMNS;
  let lane = local / COLUMNS;
  let begin = chunk * parameters.chunk;
  let end = min(begin + parameters.chunk, parameters.length);
  // Four partial totals, so that four loads are in flight.
  var total = identity();
  var total1 = identity();
  var total2 = identity();
  var total3 = identity();
  if (output < parameters.outputs) {
    var position = begin + lane;
    // slot four: four terms at a time; empty if a term is long
    for (; position + 3u * LANES < end; position += 4u * LANES) {
      total = combine(total, term(output, position));
      total1 = combine(total1, term(output, position + LANES));
      total2 = combine(total2, term(output, position + 2u * LANES));
      total3 = combine(total3, term(output, position + 3u * LANES));
    }
    // end four
    for (; position < end; position += LANES) {
      total = combine(total, term(output, position));
    }
  }
  totals[local] = combine(combine(total, total1), combine(total2, total3));
  workgroupBarrier();
  // A barrier costs more than some additions, so lanes are combined 16 at a time.
  const FIRST = max(LANES / 16u, 1u);
  if (LANES >= 64u) {
    if (lane < FIRST) {
      var part: array<Value, 16>;
      // unroll
      for (var i = 0u; i < 16u; i++) {
        part[i] = totals[local + i * FIRST * COLUMNS];
      }
      // unroll
      for (var i = 0u; i < 8u; i++) {
        part[i] = combine(part[i], part[i + 8u]);
      }
      // unroll
      for (var i = 0u; i < 4u; i++) {
        part[i] = combine(part[i], part[i + 4u]);
      }
      totals[local] = combine(combine(part[0], part[2]), combine(part[1], part[3]));
    }
    workgroupBarrier();
    if (lane == 0u) {
      total = totals[local];
      for (var i = 1u; i < FIRST; i++) {
        total = combine(total, totals[local + i * COLUMNS]);
      }
      totals[local] = total;
    }
  } else {
    for (var width = LANES / 2u; width > 0u; width /= 2u) {
      if (lane < width) {
        totals[local] = combine(totals[local], totals[local + width * COLUMNS]);
      }
      workgroupBarrier();
    }
  }
  if (lane == 0u && output < parameters.outputs) {
    store(output, chunk, totals[local]);
  }
}
