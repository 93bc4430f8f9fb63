// Merge sort of short rows: each workgroup sorts a tile of rows in its memory.
//
// A row takes `width` words of the tile, a power of two; words past its end hold the
// largest key. A thread sorts EACH neighbours in registers, then runs are merged in pairs:
// a thread finds by binary search where its EACH results begin in both runs. Of equal
// keys the earlier element comes first, so that the sort is stable.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  width: u32,
  blocks: u32,
  flip: u32,
  last: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: bits_of(row, position), key(bits) and store(at, bits, position)
fn bits_of(row: u32, position: u32) -> u32 {
  return bitcast<u32>(input0[row * parameters.length + position]);
}
fn key(bits: u32) -> u32 {
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u) ^ parameters.flip;
}
fn store(at: u32, bits: u32, position: u32) {
  result[at] = bits;
}
// end functions

// slot shape: threads, elements of a thread, words between gaps, whether words are carried
const THREADS: u32 = 256u;
const EACH: u32 = 8u;
const GAP: u32 = 32u;
const CARRIES: bool = false;
// end shape

const TILE: u32 = THREADS * EACH;
const CARRIED: u32 = select(1u, TILE + TILE / GAP, CARRIES);

// One word of padding in GAP, so that threads that read EACH neighbours have no bank
// conflicts.
var<workgroup> tile: array<u32, TILE + TILE / GAP>;
var<workgroup> tile_positions: array<u32, CARRIED>;

fn padded(word: u32) -> u32 {
  return word + word / GAP;
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first = (group.y * groups.x + group.x) * (TILE / parameters.width);
  let first_row = first / parameters.blocks;
  let start = (first % parameters.blocks) * parameters.width;
  let within = parameters.width - 1u;
  let shift = countTrailingZeros(parameters.width);
  // unroll
  for (var i = 0u; i < EACH; i++) {
    let word = i * THREADS + lane;
    let row = first_row + (word >> shift);
    let position = start + (word & within);
    var element = parameters.last;
    if (row < parameters.rows && position < parameters.length) {
      element = bits_of(row, position);
    }
    tile[padded(word)] = element;
  }
  workgroupBarrier();

  // registers
  var bits: array<u32, EACH>;
  // registers
  var keys: array<u32, EACH>;
  // registers
  var positions: array<u32, EACH>;
  // unroll
  for (var i = 0u; i < EACH; i++) {
    bits[i] = tile[padded(lane * EACH + i)];
    keys[i] = key(bits[i]);
    positions[i] = start + ((lane * EACH + i) & within);
  }
  // Adjacent elements are swapped until all are in order.
  // unroll
  for (var round = 0u; round < EACH; round++) {
    // unroll
    for (var i = round % 2u; i < EACH - 1u; i += 2u) {
      let is_behind = keys[i] > keys[i + 1u];
      let key_i = keys[i];
      let bits_i = bits[i];
      keys[i] = select(keys[i], keys[i + 1u], is_behind);
      keys[i + 1u] = select(keys[i + 1u], key_i, is_behind);
      bits[i] = select(bits[i], bits[i + 1u], is_behind);
      bits[i + 1u] = select(bits[i + 1u], bits_i, is_behind);
      // choose
      if (CARRIES) {
        let position_i = positions[i];
        positions[i] = select(positions[i], positions[i + 1u], is_behind);
        positions[i + 1u] = select(positions[i + 1u], position_i, is_behind);
      }
    }
  }

  for (var run = EACH; run <= parameters.width; run *= 2u) {
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
    if (run < parameters.width) {
      let begin = (lane * EACH) & ~(2u * run - 1u);
      let diagonal = lane * EACH - begin;
      var a = diagonal - min(diagonal, run);
      var end = min(diagonal, run);
      while (a < end) {
        let middle = (a + end) / 2u;
        let left = key(tile[padded(begin + middle)]);
        let right = key(tile[padded(begin + run + diagonal - 1u - middle)]);
        if (left <= right) {
          a = middle + 1u;
        } else {
          end = middle;
        }
      }
      var b = diagonal - a;
      var at_a = padded(begin + min(a, run - 1u));
      var at_b = padded(begin + run + min(b, run - 1u));
      var bits_a = tile[at_a];
      var bits_b = tile[at_b];
      var key_a = key(bits_a);
      var key_b = key(bits_b);
      // unroll
      for (var i = 0u; i < EACH; i++) {
        let is_a = (b >= run) | ((a < run) & (key_a <= key_b));
        bits[i] = select(bits_b, bits_a, is_a);
        // choose
        if (CARRIES) {
          positions[i] = tile_positions[select(at_b, at_a, is_a)];
        }
        a += select(0u, 1u, is_a);
        b += select(1u, 0u, is_a);
        let next = select(run + min(b, run - 1u), min(a, run - 1u), is_a);
        let at = padded(begin + next);
        let next_bits = tile[at];
        let next_key = key(next_bits);
        bits_a = select(bits_a, next_bits, is_a);
        key_a = select(key_a, next_key, is_a);
        at_a = select(at_a, at, is_a);
        bits_b = select(next_bits, bits_b, is_a);
        key_b = select(next_key, key_b, is_a);
        at_b = select(at, at_b, is_a);
      }
    }
  }

  // unroll
  for (var i = 0u; i < EACH; i++) {
    let word = i * THREADS + lane;
    let row = first_row + (word >> shift);
    let rank = start + (word & within);
    if (row < parameters.rows && rank < parameters.length) {
      let at = padded(word);
      var position = 0u;
      // choose
      if (CARRIES) {
        position = tile_positions[at];
      }
      store(row * parameters.length + rank, tile[at], position);
    }
  }
}
