/** Loads Pyodide and tensorweb in a module worker, as the playground does, and measures. */

import * as instruments from "../js/instruments.mjs";
import { HEADING, runTable } from "../js/table.mjs";
import { openTensorweb } from "../js/tensorweb.mjs";
import { openWarmer } from "../js/warming.mjs";

self.addEventListener("message", async ({ data: specification }) => {
  try {
    self.postMessage({ results: await run(specification) });
  } catch (error) {
    self.postMessage({ error: String(error?.stack ?? error) });
  }
});

const log = (text) => self.postMessage({ log: text });

async function run(specification) {
  const { base, wheel, sources, host, tiny } = specification;
  const begin = performance.now();
  const address = new URL("pyodide/", new URL(base, self.location.href));
  const { loadPyodide } = await import(new URL("pyodide.mjs", address).href);
  const pyodide = await loadPyodide({ indexURL: address.href });
  const loaded = performance.now() - begin;
  instruments.watchDevices();
  const warm = await openWarmer(navigator.gpu, specification.warming);
  const [own, bench] = await Promise.all([bytes(wheel), bytes(sources)]);
  const tensorweb = await openTensorweb(pyodide, own, bench, host);
  const adapter = (await navigator.gpu.requestAdapter())?.info;
  log(`adapter: ${adapter?.vendor} ${adapter?.architecture} ${adapter?.description}`);
  log(`Pyodide loaded in ${loaded.toFixed(0)} ms`);
  const rows = [];
  if (specification.launches) rows.push(...(await tensorweb.launches(tiny)));
  for (const row of rows) {
    log(`${row.workload.padEnd(28)} ${(row.ms * 1e3).toFixed(2).padStart(12)} µs`);
  }
  if (specification.profile) log(await tensorweb.profile());
  if (specification.kernels) {
    log(HEADING);
    const options = { budget: specification.budget, warm, log };
    instruments.startCounting();
    rows.push(...(await tensorweb.ceilings(specification.ceilings, tiny, options)));
    rows.push(...(await runTable(specification.workloads, [tensorweb], options)));
  }
  // Last, because they open devices of their own.
  if (specification.launches) rows.push(...(await tensorweb.firstCalls(tiny)));
  const names = [adapter?.vendor, adapter?.architecture, adapter?.device];
  return {
    adapter: names.filter(Boolean).join(" "),
    driver: adapter?.description ?? "",
    isolated: self.crossOriginIsolated,
    browser: navigator.userAgent.match(/(Chrome|Firefox)\/[\d.]+/)?.[0] ?? "",
    rows,
  };
}

async function bytes(path) {
  const response = await fetch(new URL(path, self.location.href));
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
