/** Times the training steps of all libraries in one worker, one after the other. */

import * as instruments from "../js/instruments.mjs";
import { measureTrainer } from "../js/train/measure.mjs";
import { valuesOf } from "../js/train/values.mjs";
import { openWarmer } from "../js/warming.mjs";

const say = (text) => self.postMessage({ log: text });

self.addEventListener("message", async ({ data: specification }) => {
  try {
    self.postMessage(await run(specification));
  } catch (error) {
    self.postMessage({ error: String(error?.stack ?? error) });
  }
});

async function run(specification) {
  instruments.watchDevices();
  const warm = await openWarmer(navigator.gpu, specification.warming);
  const { info } = await navigator.gpu.requestAdapter();
  say(`adapter: ${info.vendor} ${info.architecture} ${info.description}`);
  instruments.startCounting();
  const rows = [];
  for (const library of specification.libraries) {
    try {
      const { name, open } = await import(`../js/train/${library}.mjs`);
      const make = await open(await tools(library, specification));
      for (const network of specification.networks) {
        rows.push(...(await measured(network, name, make, warm)));
      }
      if (library !== "tensorweb") continue;
      for (const network of specification.forward) {
        rows.push(...(await measured(network, name, make, warm)));
      }
    } catch (error) {
      say(`${library}: left out, ${String(error?.message ?? error).slice(-600)}`);
    }
  }
  return {
    adapter: [info.vendor, info.architecture, info.device].filter(Boolean).join(" "),
    driver: info.description ?? "",
    browser: navigator.userAgent.match(/(Chrome|Firefox)\/[\d.]+/)?.[0] ?? "",
    rows,
  };
}

/** Returns the row of a network in a list; an empty one where the library failed. */
async function measured(network, name, make, warm) {
  const values = network.parameters ? valuesOf(network) : null;
  let impl = name;
  try {
    const found = await measureTrainer(async () => {
      const trainer = await make(network, values);
      impl = trainer.impl ?? name;
      return trainer;
    }, warm);
    const rate = network.tokens / found.ms / 1e-3;
    const row = { workload: network.name, impl, rate, unit: network.unit, err: null, ...found };
    say(lineOf(row));
    return [row];
  } catch (error) {
    say(`${network.name}: ${name} failed: ${String(error?.message ?? error).slice(-600)}`);
    return [];
  }
}

function lineOf(row) {
  const shown = (number, digits = 3) => (number === null ? "-" : number.toFixed(digits));
  return [
    row.workload.padEnd(13),
    row.impl.padEnd(24),
    `${shown(row.ms)} ms`.padStart(12),
    `waited ${shown(row.single_ms)}, gpu ${shown(row.gpu_ms)}, python ${shown(row.python_ms)}`,
    `first ${shown(row.first_ms, 0)},`,
    `${row.dispatches} dispatches, ${row.submits} submits, ${row.buffers} buffers;`,
    `loss ${row.losses.map((number) => number.toFixed(5)).join(" → ")}`,
  ].join(" ");
}

/** Returns what a library needs to open: Python for ours, the packages for peers. */
async function tools(library, specification) {
  const { base, wheel, sources, tiny, host } = specification;
  const modules = new URL("../node_modules/", self.location.href);
  if (library !== "tensorweb") return { modules };
  const address = new URL("pyodide/", new URL(base, self.location.href));
  const { loadPyodide } = await import(new URL("pyodide.mjs", address).href);
  const pyodide = await loadPyodide({ indexURL: address.href });
  const bytes = async (path) => {
    const response = await fetch(new URL(path, self.location.href));
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  };
  pyodide.unpackArchive(await bytes(wheel), "wheel");
  pyodide.unpackArchive(await bytes(sources), "zip");
  return { pyodide, host, tiny };
}
