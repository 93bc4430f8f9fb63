// Radix sort: each workgroup sorts one block of a row in its memory, four bits at a time.
//
// A block is 2048 elements. A row of one block is sorted by all bits of its keys in one
// launch. A longer row takes a launch per digit of eight bits: elements of equal digit are
// stored contiguously and in order, at positions computed from the counts of digits.
// Positions past the end of a row hold no element and stay last.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  blocks: u32,
  flip: u32,
  shift: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read> running_counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> next_bits: array<u32>;
@group(0) @binding(3) var<storage, read_write> next_positions: array<u32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: what an element is, whether its first position goes along, where to
const BITS: u32 = 8u;
const CARRIES_POSITIONS: bool = true;
fn bits_of(row: u32, position: u32) -> u32 {
  return bitcast<u32>(input0[row * parameters.length + position]);
}
fn position_of(row: u32, position: u32) -> u32 {
  return position;
}
fn key(bits: u32) -> u32 {
  return select(bits | 0x80000000u, ~bits, bits > 0x80000000u) ^ parameters.flip;
}
fn counted_before(row: u32, digit: u32, block: u32) -> u32 {
  let count = digit * parameters.blocks + block;
  if (row >= parameters.rows || count == 0u) {
    return 0u;
  }
  return running_counts[row * parameters.blocks * 256u + count - 1u];
}
fn store(at: u32, bits: u32, position: u32) {
  next_bits[at] = bits;
  next_positions[at] = position;
}
// end functions

const BLOCK: u32 = 2048u;
const EACH: u32 = 8u;

// Counts of digits while ranks are computed, elements while they are moved. One word in
// nine is padding, so that threads that read eight neighbours each have no bank conflicts.
var<workgroup> memory: array<u32, BLOCK + BLOCK / EACH>;
var<workgroup> totals: array<u32, 256>;

// The address of a word, with the padding before it.
fn padded(word: u32) -> u32 {
  return word + word / EACH;
}

// Replace counts in `memory` by the counts before each of them.
//
// Word w of column t counts digit w of thread t in its low half and digit w + 8 in its
// high half; all counts of the low halves come before those of the high halves.
fn count_before(lane: u32) {
  var total = 0u;
  // unroll
  for (var i = 0u; i < 8u; i++) {
    total += memory[padded(lane * EACH + i)];
  }
  totals[lane] = total;
  workgroupBarrier();
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    var before = 0u;
    if (lane >= distance) {
      before = totals[lane - distance];
    }
    workgroupBarrier();
    totals[lane] += before;
    workgroupBarrier();
  }
  var before = totals[lane] - total + (totals[255] << 16u);
  // unroll
  for (var i = 0u; i < 8u; i++) {
    let count = memory[padded(lane * EACH + i)];
    memory[padded(lane * EACH + i)] = before;
    before += count;
  }
  workgroupBarrier();
}

fn digit_of(bits: u32) -> u32 {
  return (key(bits) >> parameters.shift) & 255u;
}

// Four bits of an element's key; all ones past the end.
fn part_of(bits: u32, is_element: bool, part: u32) -> u32 {
  return select(15u, (key(bits) >> (parameters.shift + part)) & 15u, is_element);
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;
  let row = index / parameters.blocks;
  let block = index % parameters.blocks;
  let start = block * BLOCK;
  var count = 0u;
  if (row < parameters.rows) {
    count = min(parameters.length - start, BLOCK);
  }

  // Read contiguously, then distribute EACH neighbours to each thread.
  // unroll
  for (var i = 0u; i < 8u; i++) {
    let index_in_block = i * 256u + lane;
    if (index_in_block < count) {
      memory[padded(index_in_block)] = bits_of(row, start + index_in_block);
    }
  }
  workgroupBarrier();
  var bits: array<u32, EACH>;
  var positions: array<u32, EACH>;
  var ranks: array<u32, EACH>;
  // unroll
  for (var i = 0u; i < 8u; i++) {
    let index_in_block = lane * EACH + i;
    bits[i] = memory[padded(index_in_block)];
    if (CARRIES_POSITIONS && index_in_block < count) {
      positions[i] = position_of(row, start + index_in_block);
    }
  }
  workgroupBarrier();

  for (var part = 0u; part < BITS; part += 4u) {
    // unroll
    for (var i = 0u; i < 8u; i++) {
      memory[padded(i * 256u + lane)] = 0u;
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      let digit = part_of(bits[i], lane * EACH + i < count, part);
      let word = (digit & 7u) * 256u + lane;
      let half = (digit >> 3u) * 16u;
      ranks[i] = (memory[padded(word)] >> half) & 0xffffu;
      memory[padded(word)] += 1u << half;
    }
    workgroupBarrier();
    count_before(lane);
    // unroll
    for (var i = 0u; i < 8u; i++) {
      let digit = part_of(bits[i], lane * EACH + i < count, part);
      let word = (digit & 7u) * 256u + lane;
      ranks[i] += (memory[padded(word)] >> ((digit >> 3u) * 16u)) & 0xffffu;
    }
    workgroupBarrier();
    // Distribute neighbours again for the next four bits; store contiguously at the end.
    let is_last = part + 4u == BITS;
    let first = select(lane * EACH, lane, is_last);
    let step = select(1u, 256u, is_last);
    if (CARRIES_POSITIONS) {
      // unroll
      for (var i = 0u; i < 8u; i++) {
        memory[padded(ranks[i])] = positions[i];
      }
      workgroupBarrier();
      // unroll
      for (var i = 0u; i < 8u; i++) {
        positions[i] = memory[padded(first + i * step)];
      }
      workgroupBarrier();
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      memory[padded(ranks[i])] = bits[i];
    }
    workgroupBarrier();
    // unroll
    for (var i = 0u; i < 8u; i++) {
      bits[i] = memory[padded(first + i * step)];
    }
    workgroupBarrier();
  }

  // The rank of each digit's first element, then the offset of its elements.
  if (BITS == 8u) {
    // unroll
    for (var i = 0u; i < 8u; i++) {
      let index_in_block = i * 256u + lane;
      if (index_in_block < count) {
        let digit = digit_of(bits[i]);
        let before = memory[padded(max(index_in_block, 1u) - 1u)];
        if (index_in_block == 0u || digit_of(before) != digit) {
          totals[digit] = index_in_block;
        }
      }
    }
    workgroupBarrier();
    totals[lane] = counted_before(row, lane, block) - totals[lane];
    workgroupBarrier();
  }
  // unroll
  for (var i = 0u; i < 8u; i++) {
    let index_in_block = i * 256u + lane;
    if (index_in_block < count) {
      var at = row * parameters.length + index_in_block;
      if (BITS == 8u) {
        at += totals[digit_of(bits[i])];
      }
      store(at, bits[i], positions[i]);
    }
  }
}
