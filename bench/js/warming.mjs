/**
 * Keeps the GPU busy before a case is timed: GPUs slow down while they wait, and take
 * some hundred milliseconds of work to come back to their speed.
 */

const STORAGE = 0x0080;
const UNIFORM = 0x0040;
const COPY_DST = 0x0008;
const PER_SUBMIT = 20;

/**
 * Returns a function that multiplies and adds for `milliseconds`, on a device of its
 * own, the same for every library.
 * @param row the ceiling whose shader `text` runs: its grid, steps and bytes
 */
export async function openWarmer(gpu, { row, text, milliseconds }) {
  if (!milliseconds) return async () => {};
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  const device = await adapter.requestDevice();
  const module = device.createShaderModule({ code: text });
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module, entryPoint: "main" },
  });
  const buffer = (size, usage) => ({ buffer: device.createBuffer({ size, usage }) });
  const parameters = buffer(16, UNIFORM | COPY_DST);
  device.queue.writeBuffer(parameters.buffer, 0, new Uint32Array([row.steps, 0, 0, 0]));
  const resources = [buffer(row.nbytes, STORAGE), buffer(row.nbytes, STORAGE), parameters];
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: resources.map((resource, binding) => ({ binding, resource })),
  });

  function submit() {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    for (let i = 0; i < PER_SUBMIT; i++) pass.dispatchWorkgroups(...row.grid);
    pass.end();
    device.queue.submit([encoder.finish()]);
  }

  return async function warm() {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      submit();
      await device.queue.onSubmittedWorkDone();
    }
  };
}
