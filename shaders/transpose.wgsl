// Elementwise kernels over transposed inputs: tiles of 32 × 32 pass through workgroup memory.
//
// Some inputs are contiguous along `down`, the result along `across`. Each tile of a
// transposed input is read along `down`, staged, and read back along `across`, so that
// neighbouring threads access neighbouring addresses. The text here transposes a matrix.

// slot declarations: parameters and storages
struct Parameters {
  down: u32,
  across: u32,
  layers: u32,
}
@group(0) @binding(0) var<storage, read> input0: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> parameters: Parameters;
// end declarations

// slot functions: a load of each transposed input, address() in the result, and value()
fn load0(layer: u32, down: u32, across: u32) -> f32 {
  return input0[across * parameters.down + down];
}
fn address(layer: u32, down: u32, across: u32) -> u32 {
  return down * parameters.across + across;
}
fn value(layer: u32, down: u32, across: u32, v0: f32) -> f32 {
  return v0;
}
// end functions

// Rows of 33, one of padding, so that threads that read down a column use different banks.
// slot tiles: one for each transposed input
var<workgroup> tile0: array<f32, 1056>;
// end tiles

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(num_workgroups) groups: vec3u,
  @builtin(local_invocation_index) local: u32,
) {
  let tiles_down = (parameters.down + 31u) / 32u;
  let tiles_across = (parameters.across + 31u) / 32u;
  let block = group.y * groups.x + group.x;
  let layer = block / (tiles_down * tiles_across);
  let first_down = block / tiles_across % tiles_down * 32u;
  let first_across = block % tiles_across * 32u;
  let quick = local % 32u;
  let slow = local / 32u;
  // Past an edge the last element is read again and not stored.
  let from_layer = min(layer, parameters.layers - 1u);
  let from_down = min(first_down + quick, parameters.down - 1u);
  let edge = parameters.across - 1u;
  let address0 = slow * 33u + quick;
  // slot stage: read four elements of each transposed input, then store them in its tile
  let v0_0 = load0(from_layer, from_down, min(first_across + slow, edge));
  let v0_1 = load0(from_layer, from_down, min(first_across + slow + 8u, edge));
  let v0_2 = load0(from_layer, from_down, min(first_across + slow + 16u, edge));
  let v0_3 = load0(from_layer, from_down, min(first_across + slow + 24u, edge));
  tile0[address0] = v0_0;
  tile0[address0 + 264u] = v0_1;
  tile0[address0 + 528u] = v0_2;
  tile0[address0 + 792u] = v0_3;
  // end stage
  workgroupBarrier();
  for (var step = 0u; step < 32u; step += 8u) {
    let down = first_down + slow + step;
    let across = first_across + quick;
    if (layer < parameters.layers && down < parameters.down && across < parameters.across) {
      let at = quick * 33u + slow + step;
      // slot finish: compute the element from its tiles and store it
      result[address(layer, down, across)] = value(layer, down, across, tile0[at]);
      // end finish
    }
  }
}
