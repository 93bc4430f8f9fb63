// Accumulation of sorted elements: each workgroup combines the runs of a block in a tree.
//
// A block is 2048 elements, eight neighbours per thread; a run is elements of one key,
// which is an index of the result. The total of a run inside a block goes to the result.
// The first and the last run may continue in other blocks: their totals are two elements
// of the next launch. Elements past the end change nothing.

// slot declarations: parameters and storages
struct Parameters {
  length: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> terms: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<storage, read_write> edges: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: Value, combine(), key(index), term(index) and give(key, edge, total)
alias Value = f32;
fn combine(a: Value, b: Value) -> Value {
  return a + b;
}
fn key(index: u32) -> u32 {
  return keys[index];
}
fn term(index: u32) -> Value {
  return bitcast<Value>(terms[index]);
}
fn give(key: u32, edge: u32, total: Value) {
  if (edge == INSIDE) {
    result[key] = combine(result[key], total);
  } else {
    edges[edge] = total;
  }
}
// end functions

const BLOCK: u32 = 2048u;
const EACH: u32 = 8u;

// The edge of a run that is neither the first nor the last of its block.
const INSIDE: u32 = 0xffffffffu;

// Of each thread's last run, double-buffered: steps read one half and write the other.
var<workgroup> totals: array<Value, 512>;
var<workgroup> has_start: array<u32, 512>;

// Store the total of a run in its element, or in the edge of its block.
fn leave(block: u32, key: u32, first_key: u32, last_key: u32, total: Value) {
  if (key == first_key) {
    give(key, 2u * block, total);
  } else if (key == last_key) {
    give(key, 2u * block + 1u, total);
  } else {
    give(key, INSIDE, total);
  }
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let block = group.y * groups.x + group.x;
  let start = block * BLOCK + lane * EACH;
  let last = parameters.length - 1u;
  var run_keys: array<u32, EACH>;
  var run_terms: array<Value, EACH>;
  // unroll
  for (var i = 0u; i < 8u; i++) {
    run_keys[i] = key(min(start + i, last));
    run_terms[i] = term(min(start + i, last));
    if (start + i > last) {
      run_terms[i] = parameters.identity;
    }
  }

  // The total of the last run of each thread, from its start in this block on.
  let is_start = lane == 0u || key(min(start - 1u, last)) != run_keys[0];
  var total = run_terms[0];
  var found = is_start;
  // unroll
  for (var i = 0u; i < 7u; i++) {
    if (run_keys[i] == run_keys[i + 1u]) {
      total = combine(total, run_terms[i + 1u]);
    } else {
      total = run_terms[i + 1u];
      found = true;
    }
  }
  totals[lane] = total;
  has_start[lane] = u32(found);
  workgroupBarrier();
  var half = 0u;
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    if (lane >= distance && !found) {
      total = combine(totals[half + lane - distance], total);
      found = has_start[half + lane - distance] != 0u;
    }
    half = 256u - half;
    totals[half + lane] = total;
    has_start[half + lane] = u32(found);
    workgroupBarrier();
  }

  // Each thread stores the runs that end among its elements.
  let is_block = block * BLOCK <= last;
  let first_key = key(min(block * BLOCK, last));
  let last_key = key(min(block * BLOCK + BLOCK - 1u, last));
  var next_key = ~last_key;
  if (lane < 255u) {
    next_key = key(min(start + EACH, last));
  }
  var before = parameters.identity;
  if (!is_start) {
    before = totals[half + max(lane, 1u) - 1u];
  }
  var run = run_terms[0];
  // unroll
  for (var i = 0u; i < 7u; i++) {
    if (run_keys[i] == run_keys[i + 1u]) {
      run = combine(run, run_terms[i + 1u]);
    } else {
      if (is_block) {
        leave(block, run_keys[i], first_key, last_key, combine(before, run));
      }
      before = parameters.identity;
      run = run_terms[i + 1u];
    }
  }
  if (is_block && run_keys[7] != next_key) {
    leave(block, run_keys[7], first_key, last_key, combine(before, run));
    // A block of one run has a second edge that changes nothing.
    if (lane == 255u && first_key == last_key) {
      give(last_key, 2u * block + 1u, parameters.identity);
    }
  }
}
