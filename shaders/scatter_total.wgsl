// Float sums at indices, last launch: add the bins of all tables to each element.
//
// A bucket of BINS elements has a table for every 16384 updates; the tables of all buckets
// are consecutive. Eight partial sums are added in a tree.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
  buckets: u32,
  blocks: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> running_counts: array<u32>;
@group(0) @binding(2) var<storage, read> partial_sums: array<f32>;
@group(0) @binding(3) var<storage, read_write> result: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: BINS of a bucket, end_of(bucket), original(index) and store(index, …)
const BINS: u32 = 1024u;
fn end_of(bucket: u32) -> u32 {
  return running_counts[(bucket + 1u) * parameters.blocks - 1u];
}
fn original(index: u32) -> f32 {
  return input0[index];
}
fn store(index: u32, value: f32) {
  result[index] = value;
}
// end functions

const CHUNK: u32 = 16384u;

var<workgroup> tables: array<u32, 256>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = (group.y * groups.x + group.x) * 256u + lane;
  let bucket = min(index / BINS, parameters.buckets - 1u);
  var own = 0u;
  if (lane < parameters.buckets) {
    let start = select(0u, end_of(max(lane, 1u) - 1u), lane > 0u);
    own = (end_of(lane) - start + CHUNK - 1u) / CHUNK;
  }
  // The number of tables before each bucket, by a scan.
  tables[lane] = own;
  workgroupBarrier();
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    var before = 0u;
    if (lane >= distance) {
      before = tables[lane - distance];
    }
    workgroupBarrier();
    tables[lane] += before;
    workgroupBarrier();
  }
  if (index >= parameters.length) {
    return;
  }
  let end = tables[bucket];
  let first = select(0u, tables[max(bucket, 1u) - 1u], bucket > 0u);
  var sums: array<f32, 8>;
  // unroll
  for (var i = 0u; i < 8u; i++) {
    sums[i] = parameters.identity;
  }
  for (var table = first; table < end; table += 8u) {
    var terms: array<f32, 8>;
    // unroll
    for (var i = 0u; i < 8u; i++) {
      let here = min(table + i, end - 1u);
      terms[i] = partial_sums[here * BINS + index % BINS];
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      if (table + i < end) {
        sums[i] += terms[i];
      }
    }
  }
  let total = ((sums[0] + sums[1]) + (sums[2] + sums[3]))
    + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  store(index, original(index) + total);
}
