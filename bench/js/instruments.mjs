/**
 * Counts and times what any library does on WebGPU, by wrapping its prototypes: submits,
 * dispatches, bind groups, buffers, and the GPU's time in compute passes.
 */

const QUERIES = 4096; // two a pass
const QUERY_RESOLVE = 0x0200;
const COPY_SRC = 0x0004;
const COPY_DST = 0x0008;
const MAP_READ = 0x0001;
const READ = 0x0001;

export const counters = { submits: 0, dispatches: 0, bind_groups: 0, buffers: 0 };

/** The newest device; a library's `init` is followed by a look at it. */
export let newestDevice = null;

const deviceOf = new WeakMap(); // of a command encoder
const querySets = new WeakMap(); // of a device
let recording = null;

const wrapped = []; // what `stopCounting` puts back

/** Notes the newest device; call before any library asks for one. */
export function watchDevices() {
  around(globalThis.GPUAdapter, "requestDevice", requestDevice);
}

/** Wraps what `counters` count and what `gpuMilliseconds` needs. */
export function startCounting() {
  const host = globalThis;
  before(host.GPUQueue, "submit", () => (counters.submits += 1));
  before(host.GPUDevice, "createBindGroup", () => (counters.bind_groups += 1));
  before(host.GPUDevice, "createBuffer", () => (counters.buffers += 1));
  const dispatched = () => (counters.dispatches += 1);
  before(host.GPUComputePassEncoder, "dispatchWorkgroups", dispatched);
  before(host.GPUComputePassEncoder, "dispatchWorkgroupsIndirect", dispatched);
  around(host.GPUDevice, "createCommandEncoder", function (original, rest) {
    const encoder = original.apply(this, rest);
    if (recording) deviceOf.set(encoder, this);
    return encoder;
  });
  around(host.GPUCommandEncoder, "beginComputePass", beginComputePass);
}

/** Puts everything back: wrapped calls would slow the launches. */
export function stopCounting() {
  for (const { type, name, original } of wrapped.splice(0).reverse()) {
    type.prototype[name] = original;
  }
}

export function resetCounters() {
  for (const name in counters) counters[name] = 0;
}

/**
 * Runs `work` with timestamps around each compute pass; returns milliseconds on the
 * GPU, or null where the device has no timestamps or too many passes ran.
 */
export async function gpuMilliseconds(work) {
  recording = { device: null, querySet: null, used: 0, isFull: false };
  try {
    await work();
    const { device, querySet, used, isFull } = recording;
    if (!device || isFull || !used) return null;
    return await passTime(device, querySet, used);
  } finally {
    recording = null;
  }
}

function around(type, name, wrapper) {
  const original = type?.prototype?.[name];
  if (!original) return;
  wrapped.push({ type, name, original });
  type.prototype[name] = function (...rest) {
    return wrapper.call(this, original, rest);
  };
}

function before(type, name, action) {
  const original = type?.prototype?.[name];
  if (!original) return;
  wrapped.push({ type, name, original });
  type.prototype[name] = function (...rest) {
    action();
    return original.apply(this, rest);
  };
}

/** Adds timestamps to what the library asks for. */
async function requestDevice(original, [descriptor = {}]) {
  const features = new Set(descriptor.requiredFeatures ?? []);
  if (this.features.has("timestamp-query")) features.add("timestamp-query");
  const wanted = { ...descriptor, requiredFeatures: [...features] };
  newestDevice = await original.call(this, wanted);
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
    const querySet = device.createQuerySet({ type: "timestamp", count: QUERIES });
    querySets.set(device, querySet);
  }
  recording.device = device;
  recording.querySet = querySets.get(device);
  const first = recording.used;
  recording.used += 2;
  const timestampWrites = {
    querySet: recording.querySet,
    beginningOfPassWriteIndex: first,
    endOfPassWriteIndex: first + 1,
  };
  return original.call(this, { ...descriptor, timestampWrites });
}

async function passTime(device, querySet, used) {
  const size = used * 8;
  const resolved = device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC });
  const mapped = device.createBuffer({ size, usage: COPY_DST | MAP_READ });
  const encoder = device.createCommandEncoder();
  encoder.resolveQuerySet(querySet, 0, used, resolved, 0);
  encoder.copyBufferToBuffer(resolved, 0, mapped, 0, size);
  device.queue.submit([encoder.finish()]);
  await mapped.mapAsync(READ);
  const times = new BigUint64Array(mapped.getMappedRange().slice(0));
  resolved.destroy();
  mapped.destroy();
  let nanoseconds = 0;
  for (let i = 0; i < used; i += 2) nanoseconds += Number(times[i + 1] - times[i]);
  return nanoseconds > 0 ? nanoseconds / 1e6 : null;
}
