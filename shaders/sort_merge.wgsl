// Merge sort of long rows: each workgroup produces one tile of two merged runs.
//
// A row consists of sorted runs of `run` elements, which are merged in pairs. All threads
// together search where the tile begins in both runs, then its elements are merged in
// workgroup memory. Of equal keys the elements of the first run come first.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  run: u32,
  blocks: u32,
  flip: u32,
}
@group(0) @binding(0) var<storage, read> last_bits: array<u32>;
@group(0) @binding(1) var<storage, read> last_positions: array<u32>;
@group(0) @binding(2) var<storage, read_write> next_bits: array<u32>;
@group(0) @binding(3) var<storage, read_write> next_positions: array<u32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: key(bits), position_at(at) and store(at, bits, position)
fn key(bits: u32) -> u32 {
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u) ^ parameters.flip;
}
fn position_at(at: u32) -> u32 {
  return last_positions[at];
}
fn store(at: u32, bits: u32, position: u32) {
  next_bits[at] = bits;
  next_positions[at] = position;
}
// end functions

// slot shape: threads, elements of a thread, words between gaps, whether words are carried
const THREADS: u32 = 256u;
const EACH: u32 = 8u;
const GAP: u32 = 32u;
const CARRIES: bool = true;
// end shape

const TILE: u32 = THREADS * EACH;
const CARRIED: u32 = select(1u, TILE + TILE / GAP, CARRIES);
const PROBES: u32 = THREADS / 2u;

var<workgroup> tile: array<u32, TILE + TILE / GAP>;
var<workgroup> tile_positions: array<u32, CARRIED>;

// The begin and the end of the tile in the first run: lower and upper bounds so far.
var<workgroup> least: array<atomic<u32>, 2>;
var<workgroup> most: array<atomic<u32>, 2>;

fn padded(word: u32) -> u32 {
  return word + word / GAP;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;
  let row = index / parameters.blocks;
  let start = (index % parameters.blocks) * TILE;
  let is_row = row < parameters.rows;
  // The runs are adjacent; the second may be short or missing.
  let pair = start & ~(2u * parameters.run - 1u);
  let base = row * parameters.length + pair;
  let total = min(parameters.length - pair, 2u * parameters.run);
  let run = min(parameters.run, total);
  let count = min(total - (start - pair), TILE);

  // Half of the threads search for the tile's begin, the others for its end.
  let side = lane / PROBES;
  let diagonal = start - pair + side * count;
  if (lane < 2u) {
    let boundary = start - pair + lane * count;
    atomicStore(&least[lane], boundary - min(boundary, total - run));
    atomicStore(&most[lane], min(boundary, run));
  }
  for (var span = parameters.run; span > 0u; span = (span - 1u) / PROBES) {
    workgroupBarrier();
    let low = atomicLoad(&least[side]);
    let high = atomicLoad(&most[side]);
    workgroupBarrier();
    let apart = (high - low + PROBES - 1u) / PROBES;
    let probe = low + (lane % PROBES) * apart;
    if (is_row && probe < high) {
      let left = key(last_bits[base + probe]);
      let right = key(last_bits[base + run + diagonal - 1u - probe]);
      if (left <= right) {
        atomicMax(&least[side], probe + 1u);
      } else {
        atomicMin(&most[side], probe);
      }
    }
  }
  workgroupBarrier();
  let first_a = atomicLoad(&least[0]);
  let count_a = atomicLoad(&least[1]) - first_a;
  let count_b = count - count_a;
  let base_a = base + first_a;
  let base_b = base + run + (start - pair - first_a) - count_a;
  // unroll
  for (var i = 0u; i < EACH; i++) {
    let word = i * THREADS + lane;
    if (is_row && word < count) {
      let at = select(base_b, base_a, word < count_a) + word;
      tile[padded(word)] = last_bits[at];
      // choose
      if (CARRIES) {
        tile_positions[padded(word)] = position_at(at);
      }
    }
  }
  workgroupBarrier();

  // registers
  var bits: array<u32, EACH>;
  // registers
  var positions: array<u32, EACH>;
  let own = min(lane * EACH, count);
  var a = own - min(own, count_b);
  var end = min(own, count_a);
  while (a < end) {
    let middle = (a + end) / 2u;
    let left = key(tile[padded(middle)]);
    let right = key(tile[padded(count_a + own - 1u - middle)]);
    if (left <= right) {
      a = middle + 1u;
    } else {
      end = middle;
    }
  }
  var b = own - a;
  let last_a = max(count_a, 1u) - 1u;
  let last_b = max(count, 1u) - 1u;
  var at_a = padded(min(a, last_a));
  var at_b = padded(min(count_a + b, last_b));
  var bits_a = tile[at_a];
  var bits_b = tile[at_b];
  var key_a = key(bits_a);
  var key_b = key(bits_b);
  // unroll
  for (var i = 0u; i < EACH; i++) {
    let is_a = (b >= count_b) | ((a < count_a) & (key_a <= key_b));
    bits[i] = select(bits_b, bits_a, is_a);
    // choose
    if (CARRIES) {
      positions[i] = tile_positions[select(at_b, at_a, is_a)];
    }
    a += select(0u, 1u, is_a);
    b += select(1u, 0u, is_a);
    let at = padded(select(min(count_a + b, last_b), min(a, last_a), is_a));
    let next_bits = tile[at];
    let next_key = key(next_bits);
    bits_a = select(bits_a, next_bits, is_a);
    key_a = select(key_a, next_key, is_a);
    at_a = select(at_a, at, is_a);
    bits_b = select(next_bits, bits_b, is_a);
    key_b = select(next_key, key_b, is_a);
    at_b = select(at, at_b, is_a);
  }
  workgroupBarrier();
  // unroll
  for (var i = 0u; i < EACH; i++) {
    tile[padded(lane * EACH + i)] = bits[i];
    // choose
    if (CARRIES) {
      tile_positions[padded(lane * EACH + i)] = positions[i];
    }
  }
  workgroupBarrier();
  // unroll
  for (var i = 0u; i < EACH; i++) {
    let word = i * THREADS + lane;
    if (is_row && word < count) {
      var position = 0u;
      // choose
      if (CARRIES) {
        position = tile_positions[padded(word)];
      }
      store(row * parameters.length + start + word, tile[padded(word)], position);
    }
  }
}
