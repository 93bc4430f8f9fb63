/**
 * Runs a program inside Pyodide: `node in_pyodide.mjs DETAILS`, as JSON from
 * `tools/in_pyodide.py`. With `wheels` (files to unpack there) it also has WebGPU,
 * by Dawn.
 *
 * The folders are this machine's, under the same paths; files that a test writes
 * elsewhere are lost when the process ends. The exit code is the program's value.
 */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { pyodide, folders, program, wheels } = JSON.parse(process.argv[2]);

const SHOWN = 3000;
const VARIABLES = /^(PYTEST_|PYTHONPYCACHE|TENSORWEB_)/;

/** End with what went wrong; Node would print the minified file that it happened in. */
function fail(error) {
  console.error(String(error?.stack ?? error).slice(0, SHOWN));
  process.exit(3);
}
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);

if (!("Suspending" in WebAssembly || "Suspender" in WebAssembly)) {
  fail(`Node ${process.version} cannot switch WebAssembly stacks (JSPI): asyncio.run() needs it`);
}
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const given = Object.entries(process.env).filter(([name]) => VARIABLES.test(name));
const env = { HOME: "/home/pyodide", ...Object.fromEntries(given) };
const python = await loadPyodide({ indexURL: pyodide, env });
if (wheels) {
  (await import("../bench/js/dawn.mjs")).installDawn();
  const extractDir = python.runPython("import site; site.getsitepackages()[0]");
  for (const wheel of wheels) {
    python.unpackArchive(new Uint8Array(readFileSync(wheel)), "wheel", { extractDir });
  }
}
for (const folder of folders) python.mountNodeFS(folder, folder);
process.exit(await python.runPythonAsync(program));
