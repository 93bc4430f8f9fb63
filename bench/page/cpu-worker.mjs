/** One library in a worker: opens it, then prepares, times and checks its cases. */

import { errorOf, operands } from "../js/data.mjs";

const OPENERS = {
  async tensorweb(row, specification) {
    return (await import("../js/cpu/python.mjs")).openTensorweb(row, specification);
  },
  async numpy(_, specification) {
    return (await import("../js/cpu/python.mjs")).openNumPy(specification);
  },
  async jaxjs(_, { modules }) {
    const source = new URL("@jax-js/jax/dist/index.js", modules).href;
    return (await import("../js/jaxjs.mjs")).open({ device: "wasm", source });
  },
  async tfjs({ threads }, { modules }) {
    const files = new URL("@tensorflow/tfjs-backend-wasm/dist/", modules).href;
    return (await import("../js/tfjs.mjs")).openWasm({ files, threads });
  },
  async ortweb({ threads }, { modules }) {
    const files = new URL("onnxruntime-web/dist/", modules).href;
    return (await import("../js/cpu/ortweb.mjs")).open({ files, threads });
  },
  async roofs() {
    return (await import("../js/cpu/roofs.mjs")).open();
  },
};

let library = null;
let known = null; // the workload, its operands and cases

const ANSWERS = {
  async open(row, specification) {
    allowThreads(row.threads);
    const addresses = ["pyodide", "modules", "wheel", "sources", "numpy"].map((name) => [
      name,
      specification[name] && new URL(specification[name], self.location.href).href,
    ]);
    library = await OPENERS[row.library](row, Object.fromEntries(addresses));
  },
  async prepare(workload) {
    const inputs = workload.inputs ? operands(workload) : [];
    known = { workload, inputs, cases: await library.cases(workload, inputs) };
    return known.cases.map(({ name }) => name);
  },
  async batch(place, count) {
    const item = known.cases[place];
    const started = performance.now();
    await item.run(count);
    await item.sync();
    return performance.now() - started;
  },
  /** One operation more, since a chain's result depends on how many there were. */
  async check(place) {
    const { workload, inputs, cases } = known;
    await cases[place].run(1);
    return errorOf(workload, inputs, await cases[place].read());
  },
  async end() {
    known = null;
    await library.end();
  },
};

/** Tells of so many cores; one: as in a page that is not isolated, without threads. */
function allowThreads(count) {
  const say = (object, name, value) =>
    Object.defineProperty(object, name, { value, configurable: true });
  say(navigator, "hardwareConcurrency", count);
  if (count > 1) return;
  say(globalThis, "SharedArrayBuffer", undefined);
  say(globalThis, "crossOriginIsolated", false);
}

self.onmessage = async ({ data: [question, ...rest] }) => {
  try {
    self.postMessage({ answer: await ANSWERS[question](...rest) });
  } catch (error) {
    // Python's errors say last what they are.
    const lines = String(error?.message ?? error).trim().split("\n");
    self.postMessage({ error: lines.at(-1).slice(0, 300) });
  }
};
