// Eight independent chains of four-wide multiply-adds a thread, in registers: the most
// that the arithmetic units can do.

struct Parameters {
  steps: u32, // a multiple of four
}

@group(0) @binding(0) var<storage, read> original: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> sums: array<vec4f>;
@group(0) @binding(2) var<uniform> parameters: Parameters;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let factor = original[thread];
  var a = factor + 1.0;
  var b = factor + 2.0;
  var c = factor + 3.0;
  var d = factor + 4.0;
  var e = factor + 5.0;
  var f = factor + 6.0;
  var g = factor + 7.0;
  var h = factor + 8.0;
  // Four steps at a time: a loop's own instructions cost a fifth here (H200).
  for (var step = 0u; step < parameters.steps; step += 4u) {
    a = fma(a, factor, factor);
    b = fma(b, factor, factor);
    c = fma(c, factor, factor);
    d = fma(d, factor, factor);
    e = fma(e, factor, factor);
    f = fma(f, factor, factor);
    g = fma(g, factor, factor);
    h = fma(h, factor, factor);
    a = fma(a, factor, factor);
    b = fma(b, factor, factor);
    c = fma(c, factor, factor);
    d = fma(d, factor, factor);
    e = fma(e, factor, factor);
    f = fma(f, factor, factor);
    g = fma(g, factor, factor);
    h = fma(h, factor, factor);
    a = fma(a, factor, factor);
    b = fma(b, factor, factor);
    c = fma(c, factor, factor);
    d = fma(d, factor, factor);
    e = fma(e, factor, factor);
    f = fma(f, factor, factor);
    g = fma(g, factor, factor);
    h = fma(h, factor, factor);
    a = fma(a, factor, factor);
    b = fma(b, factor, factor);
    c = fma(c, factor, factor);
    d = fma(d, factor, factor);
    e = fma(e, factor, factor);
    f = fma(f, factor, factor);
    g = fma(g, factor, factor);
    h = fma(h, factor, factor);
  }
  let place = (group.x * 256u + thread) % arrayLength(&sums);
  sums[place] = ((a + b) + (c + d)) + ((e + f) + (g + h));
}
