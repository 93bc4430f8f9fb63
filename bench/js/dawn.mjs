/** Installs Dawn (npm `webgpu`) as browsers have WebGPU: `navigator.gpu` and globals. */

import { create, globals } from "webgpu";

const ON = ["allow_unsafe_apis", "vulkan_enable_f16_on_nvidia"]; // as behind flags
const OFF = ["timestamp_quantization"]; // else the GPU's times are cut to 0.1 ms

/** Returns the `GPU` object, which must stay referenced while it is used. */
export function installDawn() {
  for (const [name, value] of Object.entries(globals)) globalThis[name] ??= value;
  const gpu = create([
    `enable-dawn-features=${ON.join(",")}`,
    `disable-dawn-features=${OFF.join(",")}`,
  ]);
  const value = { gpu, userAgent: "node", language: "en", platform: "Linux" };
  const property = { value, configurable: true, writable: true };
  Object.defineProperty(globalThis, "navigator", property);
  copySharedWrites();
  return gpu;
}

/** Dawn's binding refuses shared memory, which threaded WebAssembly has: copies it. */
function copySharedWrites() {
  const prototype = globalThis.GPUQueue.prototype;
  const original = prototype.writeBuffer;
  prototype.writeBuffer = function (target, offset, data, start = 0, size = undefined) {
    const memory = data.buffer ?? data;
    if (!(memory instanceof SharedArrayBuffer)) {
      return original.call(this, target, offset, data, start, size);
    }
    const width = data.BYTES_PER_ELEMENT ?? 1;
    const from = (data.byteOffset ?? 0) + start * width;
    const length = size === undefined ? data.byteLength - start * width : size * width;
    const copy = new Uint8Array(new Uint8Array(memory, from, length));
    return original.call(this, target, offset, copy);
  };
}
