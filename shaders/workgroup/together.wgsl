// What the threads of a workgroup find together; LANES is their number.

var<workgroup> partial: array<f32, LANES>;

// The sum of a value of each thread.
fn total(lane: u32, value: f32) -> f32 {
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

// The largest of a value of each thread.
fn largest_of(lane: u32, value: f32) -> f32 {
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
