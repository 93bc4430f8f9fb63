// Loads Pyodide with the drivers alone and runs Python in three ways; used by the test
// page on its main thread and by its worker.

import { restorePython } from "./python.js";

/** @returns {Promise<(kind: string, code: string) => Promise<string>>} */
export async function start() {
  const home = new URL("./pyodide/", import.meta.url).href;
  const py = await restorePython(home, new URL("./python.snapshot", import.meta.url));
  const archive = await (await fetch(new URL("./drivers.zip", import.meta.url))).arrayBuffer();
  const site = py.runPython("import site; site.getsitepackages()[0]");
  py.unpackArchive(archive, "zip", { extractDir: site });
  await py.runPythonAsync("from support import *");
  return async (kind, code) => {
    if (kind === "interrupt") return String(cancel(py));
    if (kind === "guard") return String(installGuard(py));
    if (kind === "waits") return String(await waits);
    try {
      if (kind === "await") return String(await py.runPythonAsync(code));
      if (kind === "plain") return String(py.runPython(code));
      // A timer's callback: Python entered without stack switching.
      const callback = py.runPython(code);
      return String(await new Promise((resolve, reject) => {
        setTimeout(() => {
          try {
            resolve(callback());
          } catch (error) {
            reject(error);
          }
        });
      }));
    } catch (error) {
      throw new Error(`${error.type ?? error.name}: ${error.message}`);
    }
  };
}

const interrupts = new Uint8Array(
  globalThis.crossOriginIsolated ? new SharedArrayBuffer(1) : 1,
);
let cancelWait = () => {};
let beginsToWait;
const waits = new Promise((resolve) => {
  beginsToWait = () => resolve(true);
});

/** Installs the hooks that `tensorweb/drivers/waiting.py` asks a page for. */
function installGuard(py) {
  py.setInterruptBuffer(interrupts);
  globalThis.tensorwebInterrupt = {
    off: () => py.setInterruptBuffer(undefined),
    on: () => {
      const hit = interrupts[0] === 2;
      interrupts[0] = 0;
      py.setInterruptBuffer(interrupts);
      return hit;
    },
    race: (promise) => {
      beginsToWait();
      return Promise.race([
        promise,
        new Promise((_, reject) => {
          cancelWait = () => reject(new Error("cancelled"));
        }),
      ]);
    },
  };
  return true;
}

function cancel() {
  interrupts[0] = 2;
  cancelWait();
  return true;
}
