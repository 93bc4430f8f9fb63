/**
 * Counts and times any library's use of WebGPU by wrapping its prototypes: submits,
 * dispatches, and the GPU's time in compute passes. Also keeps the GPU busy before a case.
 */

const QUERIES = 4096; // two per pass

export const counters = { submits: 0, dispatches: 0 };

/** The newest device; read right after a library's `init`. */
export let newestDevice = null;

const deviceOf = new WeakMap(); // of a command encoder
const querySets = new WeakMap(); // of a device
let recording = null;
const wrapped = []; // prototypes and methods that `stopCounting` restores

/** Remembers the newest device; call before any library asks for one. */
export function watchDevices() {
  wrap("GPUAdapter", "requestDevice", requestDevice);
}

export function startCounting() {
  const counted = (counter) =>
    function (original, rest) {
      counters[counter] += 1;
      return original.apply(this, rest);
    };
  wrap("GPUQueue", "submit", counted("submits"));
  wrap("GPUComputePassEncoder", "dispatchWorkgroups", counted("dispatches"));
  wrap("GPUComputePassEncoder", "dispatchWorkgroupsIndirect", counted("dispatches"));
  wrap("GPUDevice", "createCommandEncoder", function (original, rest) {
    const encoder = original.apply(this, rest);
    if (recording) deviceOf.set(encoder, this);
    return encoder;
  });
  wrap("GPUCommandEncoder", "beginComputePass", beginComputePass);
}

/** Restores every method: wrapped calls would slow down the launches. */
export function stopCounting() {
  for (const { prototype, name, original } of wrapped.splice(0).reverse()) {
    prototype[name] = original;
  }
}

/** Runs `count` operations of a case; returns its GPU's time and counts per operation. */
export async function inspect(item, count) {
  for (const name in counters) counters[name] = 0;
  await item.batch(count);
  const counts = Object.entries(counters).map(([name, n]) => [name, n / count]);
  const totals = [];
  for (let i = 0; i < 3; i++) totals.push(await gpuMilliseconds(() => item.batch(count)));
  const gpu = totals.includes(null) ? null : Math.min(...totals) / count;
  return { gpu_ms: gpu, ...Object.fromEntries(counts) };
}

/** Returns milliseconds in compute passes, null without timestamps or of too many. */
async function gpuMilliseconds(work) {
  recording = { device: null, querySet: null, used: 0, isFull: false };
  try {
    await work();
    const { device, querySet, used, isFull } = recording;
    return !device || isFull || !used ? null : await passTime(device, querySet, used);
  } finally {
    recording = null;
  }
}

function wrap(type, name, wrapper) {
  const prototype = globalThis[type]?.prototype;
  const original = prototype?.[name];
  if (!original) return;
  wrapped.push({ prototype, name, original });
  prototype[name] = function (...rest) {
    return wrapper.call(this, original, rest);
  };
}

async function requestDevice(original, [descriptor = {}]) {
  const features = new Set(descriptor.requiredFeatures ?? []);
  if (this.features.has("timestamp-query")) features.add("timestamp-query");
  const required = { ...descriptor, requiredFeatures: [...features] };
  newestDevice = await original.call(this, required);
  newestDevice.addEventListener?.("uncapturederror", ({ error }) => {
    console.error("GPU error:", error.message.slice(0, 600));
  });
  return newestDevice;
}

function beginComputePass(original, [descriptor]) {
  const device = deviceOf.get(this);
  if (!recording || !device?.features.has("timestamp-query")) {
    return original.call(this, descriptor);
  }
  if (recording.used + 2 > QUERIES) {
    recording.isFull = true;
    return original.call(this, descriptor);
  }
  if (!querySets.has(device)) {
    querySets.set(device, device.createQuerySet({ type: "timestamp", count: QUERIES }));
  }
  const [querySet, first] = [querySets.get(device), recording.used];
  recording = { ...recording, device, querySet, used: first + 2 };
  const timestampWrites = {
    querySet,
    beginningOfPassWriteIndex: first,
    endOfPassWriteIndex: first + 1,
  };
  return original.call(this, { ...descriptor, timestampWrites });
}

async function passTime(device, querySet, used) {
  const size = used * 8;
  const { QUERY_RESOLVE, COPY_SRC, COPY_DST, MAP_READ } = globalThis.GPUBufferUsage;
  const resolved = device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC });
  const mapped = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.resolveQuerySet(querySet, 0, used, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, mapped, 0, size);
  device.queue.submit([encoder.finish()]);
  await mapped.mapAsync(globalThis.GPUMapMode.READ);
  const times = new BigUint64Array(mapped.getMappedRange().slice(0));
  resolved.destroy();
  mapped.destroy();
  let nanoseconds = 0;
  for (let i = 0; i < used; i += 2) nanoseconds += Number(times[i + 1] - times[i]);
  return nanoseconds > 0 ? nanoseconds / 1e6 : null;
}

/**
 * Returns a function that keeps the GPU busy for `milliseconds` on a device of its own:
 * a GPU lowers its clock while it waits.
 * @param row the ceiling whose shader runs: its text, grid, steps and bytes
 */
export async function openWarmer(gpu, { row, milliseconds }) {
  if (!milliseconds) return async () => {};
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  const device = await adapter.requestDevice();
  const { STORAGE, UNIFORM, COPY_DST } = globalThis.GPUBufferUsage;
  const module = device.createShaderModule({ code: row.shader });
  const compute = { module, entryPoint: "main" };
  const pipeline = device.createComputePipeline({ layout: "auto", compute });
  const buffer = (size, usage) => ({ buffer: device.createBuffer({ size, usage }) });
  const parameters = buffer(16, UNIFORM | COPY_DST);
  device.queue.writeBuffer(parameters.buffer, 0, new Uint32Array([row.steps, 0, 0, 0]));
  const resources = [buffer(row.nbytes, STORAGE), buffer(row.nbytes, STORAGE), parameters];
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: resources.map((resource, binding) => ({ binding, resource })),
  });
  return async function warm() {
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      for (let i = 0; i < 20; i++) pass.dispatchWorkgroups(...row.grid);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
    }
  };
}
