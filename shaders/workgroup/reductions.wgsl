// Reductions over the lanes of a workgroup, of which there are LANES.

var<workgroup> partial: array<f32, LANES>;

// The sum of one value per lane.
fn sum_of_lanes(lane: u32, value: f32) -> f32 {
  partial[lane] = value;
  workgroupBarrier();
  for (var distance = LANES / 2u; distance > 0u; distance /= 2u) {
    if (lane < distance) {
      partial[lane] += partial[lane + distance];
    }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&partial[0]);
}

// The largest of one value per lane.
fn max_of_lanes(lane: u32, value: f32) -> f32 {
  partial[lane] = value;
  workgroupBarrier();
  for (var distance = LANES / 2u; distance > 0u; distance /= 2u) {
    if (lane < distance) {
      partial[lane] = max(partial[lane], partial[lane + distance]);
    }
    workgroupBarrier();
  }
  return workgroupUniformLoad(&partial[0]);
}
