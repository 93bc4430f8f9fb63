// Accumulation into few elements: each workgroup has private totals in its memory.
//
// As in a histogram, each element of the result is a bin. A workgroup accumulates some
// updates privately and then adds its totals to the result, so that updates of one bin
// contend less. A lane reads AHEAD updates before it accumulates any; its count `each` is
// a multiple of AHEAD. Neighbouring threads use different copies of the private totals,
// `stride` words apart, if there is room. The order does not matter, as in
// scatter_atomic.wgsl.

// slot declarations: parameters and storages
struct Parameters {
  updates: u32,
  width: u32,
  bins: u32,
  copies: u32,
  stride: u32,
  each: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<i32>;
@group(0) @binding(1) var<storage, read> input1: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> parameters: Parameters;
// end declarations

// slot functions: row_of(write), bits_of(write, column), join() and join_private()
fn row_of(write: u32) -> u32 {
  return u32(input0[write]);
}
fn bits_of(write: u32, column: u32) -> u32 {
  return input1[write * parameters.width + column];
}
fn join(at: u32, bits: u32) {
  atomicAdd(&totals[at], bits);
}
fn join_private(at: u32, bits: u32) {
  atomicAdd(&private_totals[at], bits);
}
// end functions

const AHEAD: u32 = 4u;

var<workgroup> private_totals: array<atomic<u32>, 2048>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  for (var at = lane; at < 2048u; at += 256u) {
    atomicStore(&private_totals[at], 0u);
  }
  workgroupBarrier();
  let copy = lane % parameters.copies * parameters.stride;
  let start = (group.y * groups.x + group.x) * parameters.each * 256u + lane;
  for (var i = 0u; i < parameters.each; i += AHEAD) {
    // registers
    var to: array<u32, AHEAD>;
    // registers
    var bits: array<u32, AHEAD>;
    // unroll
    for (var a = 0u; a < AHEAD; a++) {
      let index = min(start + (i + a) * 256u, parameters.updates - 1u);
      let write = index / parameters.width;
      let column = index % parameters.width;
      to[a] = row_of(write) * parameters.width + column;
      bits[a] = bits_of(write, column);
    }
    // unroll
    for (var a = 0u; a < AHEAD; a++) {
      if (start + (i + a) * 256u < parameters.updates) {
        join_private(copy + to[a], bits[a]);
      }
    }
  }
  workgroupBarrier();
  for (var at = lane; at < parameters.bins; at += 256u) {
    for (var i = 1u; i < parameters.copies; i++) {
      join_private(at, atomicLoad(&private_totals[at + i * parameters.stride]));
    }
    let bits = atomicLoad(&private_totals[at]);
    if (bits != 0u) {
      join(at, bits);
    }
  }
}
