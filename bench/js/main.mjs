/**
 * Times tensorweb and its peers in one Node process on one Dawn, as told by a JSON file
 * (`bench/kernels.py` writes it); writes the results as JSON.
 *
 *     node main.mjs SPECIFICATION RESULTS
 */

import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";
import { installDawn } from "./dawn.mjs";
import * as instruments from "./instruments.mjs";
import { HEADING, messageOf, runTable } from "./table.mjs";
import { openTensorweb } from "./tensorweb.mjs";
import { openWarmer } from "./warming.mjs";

const [specificationPath, resultsPath] = process.argv.slice(2);
const specification = JSON.parse(readFileSync(specificationPath, "utf-8"));
process.on("unhandledRejection", (error) => console.error("unhandled:", error));

const gpu = installDawn();
instruments.watchDevices();

const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
if (!adapter) {
  console.error("Dawn found no GPU adapter; on Linux it needs a Vulkan driver");
  process.exit(2);
}
const info = adapter.info;
console.log(`adapter: ${info.vendor} ${info.architecture} ${info.device} ${info.description}`);

const warm = await openWarmer(gpu, specification.warming);
const libraries = [];
let tensorweb = null;
for (const name of specification.libraries) {
  const started = performance.now();
  try {
    const library = await open(name);
    if (name === "tensorweb") tensorweb = library;
    libraries.push(library);
    console.log(`${name}: ready in ${(performance.now() - started).toFixed(0)} ms`);
  } catch (error) {
    console.error(`${name}: left out, ${messageOf(error)}`);
  }
}

const log = console.log;
const options = { budget: specification.budget, warm, log };
const rows = [];
console.log(`\n${HEADING}`);
instruments.startCounting();
if (tensorweb) {
  rows.push(...(await tensorweb.ceilings(specification.ceilings, specification.tiny, options)));
}
const before = rows.length;
const keepTable = (found) => {
  rows.splice(before, Infinity, ...found);
  keep();
};
await runTable(specification.workloads, libraries, { ...options, keep: keepTable });
instruments.stopCounting();
// Last, because the GPU mostly waits while launches are measured, and slows down.
if (tensorweb && specification.launches) {
  rows.push(...(await tensorweb.launches(specification.tiny)));
  keep();
  rows.push(...(await tensorweb.firstCalls(specification.tiny)));
}
keep();
if (specification.profile && tensorweb) console.log(await tensorweb.profile());
process.exit(0); // Dawn's threads outlive their last use

/** Writes what is known so far, so that a stopped run leaves its results. */
function keep() {
  const description = info.description || info.device || info.architecture;
  const results = {
    adapter: [info.vendor, info.architecture, info.device].filter(Boolean).join(" "),
    driver: description,
    versions: { node: process.version, ...specification.versions },
    rows,
  };
  writeFileSync(resultsPath, JSON.stringify(results, null, 1));
}

async function open(name) {
  if (name !== "tensorweb") return (await import(`./${name}.mjs`)).open();
  const pyodide = await loadPyodide();
  const read = (path) => new Uint8Array(readFileSync(path));
  return openTensorweb(pyodide, read(specification.wheel), read(specification.sources));
}
