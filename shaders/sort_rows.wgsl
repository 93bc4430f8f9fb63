// Sorting of short rows: each workgroup sorts one tile of whole rows in its memory.
//
// A row takes `width` words of the tile, a power of two; words behind its end hold
// nothing and come last. A bitonic network compares keys and then positions, so that
// equal keys keep their order.

// slot declarations: parameters and storages
struct Parameters {
  rows: u32,
  length: u32,
  width: u32,
  flip: u32,
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

const TILE: u32 = 2048u;

var<workgroup> tile_bits: array<u32, TILE>;
var<workgroup> tile_positions: array<u32, TILE>;

// Whether word `a` of the tile belongs behind word `b`.
fn belongs_behind(a: u32, b: u32) -> bool {
  let position_a = tile_positions[a];
  let position_b = tile_positions[b];
  if (position_a >= parameters.length || position_b >= parameters.length) {
    return position_a > position_b;
  }
  let key_a = key(tile_bits[a]);
  let key_b = key(tile_bits[b]);
  return key_a > key_b || (key_a == key_b && position_a > position_b);
}

fn swap(a: u32, b: u32) {
  let bits = tile_bits[a];
  tile_bits[a] = tile_bits[b];
  tile_bits[b] = bits;
  let position = tile_positions[a];
  tile_positions[a] = tile_positions[b];
  tile_positions[b] = position;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) lane: u32,
) {
  let first_row = (group.y * groups.x + group.x) * (TILE / parameters.width);
  for (var word = lane; word < TILE; word += 256u) {
    let row = first_row + word / parameters.width;
    let position = word % parameters.width;
    tile_positions[word] = position;
    if (row < parameters.rows && position < parameters.length) {
      tile_bits[word] = bits_of(row, position);
    }
  }
  workgroupBarrier();
  for (var size = 2u; size <= parameters.width; size *= 2u) {
    for (var distance = size / 2u; distance > 0u; distance /= 2u) {
      for (var pair = lane; pair < TILE / 2u; pair += 256u) {
        let low = 2u * pair - (pair & (distance - 1u));
        let high = low + distance;
        // The last merge of a row ascends, those before it alternate.
        let is_ascending = (low & (parameters.width - 1u) & size) == 0u;
        if (belongs_behind(low, high) == is_ascending) {
          swap(low, high);
        }
      }
      workgroupBarrier();
    }
  }
  for (var word = lane; word < TILE; word += 256u) {
    let row = first_row + word / parameters.width;
    let rank = word % parameters.width;
    if (row < parameters.rows && rank < parameters.length) {
      store(row * parameters.length + rank, tile_bits[word], tile_positions[word]);
    }
  }
}
