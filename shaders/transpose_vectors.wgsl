// Elementwise kernels over transposed inputs, in vectors: tiles of 64 × 64 pass through
// workgroup memory.
//
// Some inputs are contiguous along `down`, the result along `across`; both are accessed in
// vectors of four. A thread reads vectors of four consecutive rows, transposes their 4 × 4
// elements in registers and stores them in the tile; every four rows of the tile are
// permuted differently, so that neighbouring threads use different banks. The text here
// transposes a matrix.

// slot declarations: parameters and storages
struct Parameters {
  down: u32,
  across: u32,
  layers: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> result: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: a load of each transposed input, address() in the result, and value()
alias Value = f32;
fn load0(layer: u32, across: u32, down: u32) -> vec4<Value> {
  return input0[across * (parameters.down / 4u) + down];
}
fn address(layer: u32, down: u32, across: u32) -> u32 {
  return down * (parameters.across / 4u) + across;
}
fn value(layer: u32, down: u32, across: u32, v0: vec4<Value>) -> vec4<f32> {
  return v0;
}
// end functions

// slot shape: tiles of a band, a divisor of the tiles along `down`; layers
const BAND: u32 = 1u;
const IS_ONE_LAYER: bool = true;
// end shape

var<workgroup> tile: array<vec4<Value>, 1024>;

// Four rows of four elements, transposed, into the tile.
fn stage(quick: u32, slow: u32, a: vec4<Value>, b: vec4<Value>, c: vec4<Value>, d: vec4<Value>) {
  let at = quick * 64u + (slow ^ (quick % 8u));
  tile[at] = vec4<Value>(a.x, b.x, c.x, d.x);
  tile[at + 16u] = vec4<Value>(a.y, b.y, c.y, d.y);
  tile[at + 32u] = vec4<Value>(a.z, b.z, c.z, d.z);
  tile[at + 48u] = vec4<Value>(a.w, b.w, c.w, d.w);
}

// Four neighbours along a row of the tile.
fn staged(quick: u32, row: u32) -> vec4<Value> {
  return tile[row * 16u + (quick ^ (row / 4u % 8u))];
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let tiles_down = (parameters.down + 63u) / 64u;
  let tiles_across = (parameters.across + 63u) / 64u;
  let block = group.y * groups.x + group.x;
  var layer = 0u;
  var inside = block;
  if (!IS_ONE_LAYER) {
    layer = block / (tiles_down * tiles_across);
    inside = block % (tiles_down * tiles_across);
  }
  // Neighbouring workgroups compute a band of tiles, which covers more of the memory.
  let band = inside / BAND / tiles_across;
  let first_down = (band * BAND + inside % BAND) * 64u;
  let first_across = (inside / BAND - band * tiles_across) * 64u;
  let quick = local % 16u;
  let slow = local / 16u;
  // Past an edge the last element is read again and not stored.
  let from_layer = min(layer, parameters.layers - 1u);
  let from_down = min(first_down / 4u + quick, parameters.down / 4u - 1u);
  let edge = parameters.across - 1u;
  let from0 = min(first_across + slow * 4u, edge);
  let from1 = min(first_across + slow * 4u + 1u, edge);
  let from2 = min(first_across + slow * 4u + 2u, edge);
  let from3 = min(first_across + slow * 4u + 3u, edge);
  // slot stage: read and stage each transposed input, read back four vectors along `across`
  let a0 = load0(from_layer, from0, from_down);
  let b0 = load0(from_layer, from1, from_down);
  let c0 = load0(from_layer, from2, from_down);
  let d0 = load0(from_layer, from3, from_down);
  stage(quick, slow, a0, b0, c0, d0);
  workgroupBarrier();
  let v0_0 = staged(quick, slow);
  let v0_1 = staged(quick, slow + 16u);
  let v0_2 = staged(quick, slow + 32u);
  let v0_3 = staged(quick, slow + 48u);
  // end stage
  let across = first_across / 4u + quick;
  let is_inside = layer < parameters.layers && first_down < parameters.down;
  if (is_inside && across < parameters.across / 4u) {
    // slot finish: compute four vectors of the result and store those inside
    let down = first_down + slow;
    if (down < parameters.down) {
      result[address(layer, down, across)] = value(layer, down, across, v0_0);
    }
    if (down + 16u < parameters.down) {
      result[address(layer, down + 16u, across)] = value(layer, down + 16u, across, v0_1);
    }
    if (down + 32u < parameters.down) {
      result[address(layer, down + 32u, across)] = value(layer, down + 32u, across, v0_2);
    }
    if (down + 48u < parameters.down) {
      result[address(layer, down + 48u, across)] = value(layer, down + 48u, across, v0_3);
    }
    // end finish
  }
}
