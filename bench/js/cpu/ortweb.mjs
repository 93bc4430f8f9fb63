/** ONNX Runtime Web on its WebAssembly provider: a model per workload. */

import { CPU_GRAPHS, modelOf } from "../onnx.mjs";

/** Opens the library whose files are below the address `files`. */
export async function open({ files, threads }) {
  const ort = await import(new URL("ort.wasm.min.mjs", files));
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = files;
  ort.env.logLevel = "error";
  let release = async () => {};

  async function cases(workload, data) {
    const model = modelOf(workload, data, CPU_GRAPHS);
    if (!model) return [];
    const session = await ort.InferenceSession.create(model.bytes, {
      executionProviders: ["wasm"],
      graphOptimizationLevel: "all",
    });
    if (ort.env.wasm.numThreads !== threads) {
      throw new Error(`${ort.env.wasm.numThreads} threads instead of ${threads}`);
    }
    const feeds = Object.fromEntries(
      model.names.map((name, i) => {
        const { shape, dtype } = workload.inputs[i];
        return [name, new ort.Tensor(dtype, data[i], shape)];
      }),
    );
    let last = null;
    release = async () => {
      last = null;
      await session.release();
      release = async () => {};
    };
    const item = {
      name: `ONNX Runtime Web ${workload.program}`,
      async run(count) {
        for (let i = 0; i < count; i++) {
          const given = workload.is_chained && i ? { a: last } : feeds;
          last = (await session.run(given, ["y"])).y;
        }
      },
      sync: () => {},
      read: () => Array.from(last.data, Number),
    };
    return [item];
  }

  return { name: "ONNX Runtime Web", cases, end: () => release() };
}
