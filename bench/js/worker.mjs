/**
 * A worker of the page: runs a full specification, or opens one library for the CPU and
 * answers requests about its cases one by one.
 */

import { operands } from "./data.mjs";
import { run } from "./run.mjs";

let library = null;
let cases = [];

const ANSWERS = {
  run: (specification) =>
    run(specification, {
      name: "Chromium",
      read,
      log: (log) => self.postMessage({ log }),
      keep: (rows) => self.postMessage({ rows }),
    }),
  async open({ library: name, threads }, specification) {
    limitThreads(threads);
    const options = { ...specification, device: "cpu", name: "", read, threads };
    const { open, openNumPy } = await import(name === "numpy" ? "./tensorweb.mjs" : `./${name}.mjs`);
    library = await (name === "numpy" ? openNumPy : open)(options);
  },
  async prepare(workload) {
    cases = await library.cases(workload, () => operands(workload));
    return cases.map(({ name }) => name);
  },
  batch: (index, count) => cases[index].batch(count),
  check: (index) => cases[index].check(),
  async end() {
    cases = [];
    await library.end();
  },
};

async function read(path) {
  const response = await fetch(new URL(path, self.location.href));
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Reports this many cores; with one, as in a page that is not isolated. */
function limitThreads(count) {
  const define = (object, name, value) =>
    Object.defineProperty(object, name, { value, configurable: true });
  define(navigator, "hardwareConcurrency", count);
  if (count > 1) return;
  define(globalThis, "SharedArrayBuffer", undefined);
  define(globalThis, "crossOriginIsolated", false);
}

self.onmessage = async ({ data: [request, ...rest] }) => {
  try {
    self.postMessage({ answer: await ANSWERS[request](...rest) });
  } catch (error) {
    const text = String(error?.stack ?? error).trim();
    // The last line of a Python error says what it is.
    self.postMessage({ error: request === "run" ? text : text.split("\n").at(-1).slice(0, 300) });
  }
};
