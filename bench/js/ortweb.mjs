/** ONNX Runtime Web on its WebGPU provider: a model per workload, results kept there. */

import { readFileSync } from "node:fs";
import { modelOf } from "./onnx.mjs";

const DIST = new URL("../node_modules/onnxruntime-web/dist/", import.meta.url);
const WASM = "ort-wasm-simd-threaded.asyncify.wasm";

// By value: what `GPUBufferUsage` names.
const STORAGE = 0x0080;
const COPY_SRC = 0x0004;
const COPY_DST = 0x0008;

export async function open() {
  globalThis.self ??= globalThis;
  const ort = await import(new URL("ort.webgpu.min.mjs", DIST));
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = DIST.href;
  ort.env.wasm.wasmBinary = readFileSync(new URL(WASM, DIST)).buffer;
  ort.env.logLevel = "error";
  ort.env.webgpu.powerPreference = "high-performance";
  let release = async () => {};

  async function cases(workload, data) {
    const model = modelOf(workload, data);
    if (!model) return [];
    const session = await ort.InferenceSession.create(model.bytes, {
      executionProviders: ["webgpu"],
      preferredOutputLocation: "gpu-buffer",
      graphOptimizationLevel: "all",
    });
    const device = await ort.env.webgpu.device;
    const buffers = model.names.map((_, i) => upload(device, data[i]));
    const feeds = Object.fromEntries(
      model.names.map((name, i) => {
        const { shape, dtype } = workload.inputs[i];
        return [name, ort.Tensor.fromGpuBuffer(buffers[i], { dataType: dtype, dims: shape })];
      }),
    );
    let last = null;
    release = async () => {
      last?.dispose();
      await session.release();
      for (const buffer of buffers) buffer.destroy();
      release = async () => {};
    };
    const item = {
      name: `ONNX Runtime Web ${workload.program}`,
      group: 1,
      async run(count) {
        for (let i = 0; i < count; i++) {
          last?.dispose();
          last = (await session.run(feeds)).y;
        }
      },
      sync: () => device.queue.onSubmittedWorkDone(),
      read: () => (last.location === "gpu-buffer" ? last.getData() : last.data),
    };
    return [item];
  }

  return { name: "ONNX Runtime Web", isPeer: true, cases, end: () => release() };
}

function upload(device, values) {
  const buffer = device.createBuffer({
    size: Math.max(16, values.byteLength),
    usage: STORAGE | COPY_SRC | COPY_DST,
  });
  device.queue.writeBuffer(buffer, 0, values);
  return buffer;
}
