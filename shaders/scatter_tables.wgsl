// Float sums at indices: each workgroup accumulates its elements in a table of its own.
//
// The values for a bucket of neighbouring indices are contiguous; a workgroup takes up to
// 16384 values of one bucket. Its table has a bin per index. A first pass finds the
// largest exponent of each bin's values. A second pass adds them as fixed-point numbers of
// 31 bits and a sign: a value of that exponent is its 24-bit significand shifted left by
// seven, smaller values are shifted right and rounded. The sum of a bin takes two words,
// so that 16384 values cannot overflow it. Integer sums do not depend on the order of
// threads, and lose only the bits below the seven extra ones. Infinities and NaN have the
// largest exponent; they only set a mark.

// slot declarations: parameters and storages
struct Parameters {
  writes: u32,
  buckets: u32,
  blocks: u32,
  identity: f32,
}
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> words: array<u32>;
@group(0) @binding(2) var<storage, read> running_counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> partial_sums: array<f32>;
@group(0) @binding(4) var<uniform> parameters: Parameters;
// end declarations

// slot functions: THREADS, BINS of a table, position_of(), bits_of(), end_of(bucket)
const THREADS: u32 = 256u;
const BINS: u32 = 1024u;
fn position_of(index: u32) -> u32 {
  return keys[index];
}
fn bits_of(index: u32) -> u32 {
  return words[index];
}
fn end_of(bucket: u32) -> u32 {
  return running_counts[(bucket + 1u) * parameters.blocks - 1u];
}
// end functions

const CHUNK: u32 = 16384u;

// The exponent of infinities and NaN, and their marks.
const SPECIAL: u32 = 255u;
const INFINITY: u32 = 1u;
const MINUS_INFINITY: u32 = 2u;
const NOT_A_NUMBER: u32 = 4u;

var<workgroup> exponents: array<atomic<u32>, BINS>;
var<workgroup> lows: array<atomic<u32>, BINS>;
var<workgroup> highs: array<atomic<i32>, BINS>;

// The biased exponent of a nonzero number; of a subnormal number that of the least normal.
fn exponent_of(bits: u32) -> u32 {
  return max((bits >> 23u) & 255u, 1u);
}

fn raise(position: u32, bits: u32) {
  if (bits << 1u != 0u) {
    atomicMax(&exponents[position % BINS], exponent_of(bits));
  }
}

fn add(position: u32, bits: u32) {
  let at = position % BINS;
  let exponent = exponent_of(bits);
  let largest = atomicLoad(&exponents[at]);
  if (largest == SPECIAL) {
    if (exponent == SPECIAL) {
      let infinite = select(INFINITY, MINUS_INFINITY, bits >> 31u != 0u);
      let mark = select(infinite, NOT_A_NUMBER, (bits & 0x7fffffu) != 0u);
      atomicOr(&lows[at], mark);
    }
    return;
  }
  if (bits << 1u == 0u) {
    return;
  }
  let is_normal = ((bits >> 23u) & 255u) != 0u;
  var magnitude = ((bits & 0x7fffffu) | select(0u, 0x800000u, is_normal)) << 7u;
  // A value that is computed twice may be slightly larger the second time.
  if (exponent > largest) {
    magnitude = 0x7fffff80u;
  }
  let distance = max(largest, exponent) - exponent;
  if (distance > 31u) {
    return;
  }
  let half = select(0u, 1u << ((distance + 31u) % 32u), distance > 0u);
  let rounded = i32((magnitude + half) >> distance);
  let number = select(rounded, -rounded, bits >> 31u != 0u);
  atomicAdd(&lows[at], u32(number) & 0x7fffu);
  atomicAdd(&highs[at], number >> 15u);
}

fn power_of_two(exponent: i32) -> f32 {
  return bitcast<f32>(u32(exponent + 127) << 23u);
}

// The sum in a bin.
fn sum_at(at: u32) -> f32 {
  let exponent = atomicLoad(&exponents[at]);
  let low = atomicLoad(&lows[at]);
  if (exponent == 0u) {
    return parameters.identity;
  }
  if (exponent == SPECIAL) {
    var bits = 0x7fc00000u;
    if (low == INFINITY || low == MINUS_INFINITY) {
      bits = 0x7f800000u | ((low - INFINITY) << 31u);
    }
    return bitcast<f32>(bits);
  }
  let high = atomicLoad(&highs[at]) + i32(low >> 15u);
  let value = f32(high) * 32768.0 + f32(low & 0x7fffu);
  // In two steps, because the factor alone may be too small for a float.
  let scale = i32(exponent) - 157;
  let first = scale / 2;
  return value * power_of_two(first) * power_of_two(scale - first);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * groups.x + group.x;

  // The elements of this workgroup: a scan of the buckets' workgroups, in table memory.
  var start = 0u;
  var end = 0u;
  if (lane < parameters.buckets) {
    end = end_of(lane);
    start = select(0u, end_of(max(lane, 1u) - 1u), lane > 0u);
  }
  let own = (end - start + CHUNK - 1u) / CHUNK;
  atomicStore(&lows[lane], own);
  atomicStore(&exponents[lane], 0u);
  workgroupBarrier();
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    var before = 0u;
    if (lane >= distance) {
      before = atomicLoad(&lows[lane - distance]);
    }
    workgroupBarrier();
    atomicAdd(&lows[lane], before);
    workgroupBarrier();
  }
  let first = atomicLoad(&lows[lane]) - own;
  if (index >= first && index - first < own) {
    start += (index - first) * CHUNK;
    atomicStore(&exponents[0], start);
    atomicStore(&exponents[1], min(start + CHUNK, end));
  }
  workgroupBarrier();
  start = atomicLoad(&exponents[0]);
  end = atomicLoad(&exponents[1]);
  workgroupBarrier();
  for (var at = lane; at < BINS; at += THREADS) {
    atomicStore(&exponents[at], 0u);
    atomicStore(&lows[at], 0u);
    atomicStore(&highs[at], 0);
  }
  workgroupBarrier();

  // Eight elements are loaded before the first is used; past the end they are 0.
  for (var at = start + lane; at < end; at += 8u * THREADS) {
    var positions: array<u32, 8>;
    var bits: array<u32, 8>;
    // unroll
    for (var i = 0u; i < 8u; i++) {
      let here = min(at + i * THREADS, end - 1u);
      positions[i] = position_of(here);
      bits[i] = select(0u, bits_of(here), at + i * THREADS < end);
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      raise(positions[i], bits[i]);
    }
  }
  workgroupBarrier();
  for (var at = start + lane; at < end; at += 8u * THREADS) {
    var positions: array<u32, 8>;
    var bits: array<u32, 8>;
    // unroll
    for (var i = 0u; i < 8u; i++) {
      let here = min(at + i * THREADS, end - 1u);
      positions[i] = position_of(here);
      bits[i] = select(0u, bits_of(here), at + i * THREADS < end);
    }
    // unroll
    for (var i = 0u; i < 8u; i++) {
      add(positions[i], bits[i]);
    }
  }
  workgroupBarrier();
  if (start < end) {
    for (var at = lane; at < BINS; at += THREADS) {
      partial_sums[index * BINS + at] = sum_at(at);
    }
  }
}
