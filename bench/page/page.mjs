/**
 * Runs the benchmarks of one browser and posts the results to the server: first how long
 * the playground takes to its first result and to its pictures, then the worker's
 * measurements.
 */

import { measureLooks } from "./looks.mjs";
import { measureStarts } from "./starts.mjs";

const specification = await (await fetch("../specification.json")).json();
const log = document.querySelector("#log");

let posted = Promise.resolve();

function print(text) {
  log.textContent += `${text}\n`;
  void post("log", text);
}

/** Posts one after another, so that lines stay in order. */
function post(path, body) {
  posted = posted.then(() => fetch(`../${path}`, { method: "POST", body }));
  return posted;
}

/** Returns what the worker measured: adapter and rows. */
function runWorker() {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    worker.addEventListener("error", (event) => {
      reject(new Error(event.message || "the worker did not load"));
    });
    worker.addEventListener("message", ({ data }) => {
      if (data.log !== undefined) print(data.log);
      else if (data.error !== undefined) reject(new Error(data.error));
      else resolve(data.results);
    });
    worker.postMessage(specification);
  });
}

try {
  const starts = specification.starts ? await measureStarts(specification, print) : [];
  const looks = specification.looks ? await measureLooks(specification, print) : [];
  const results = await runWorker();
  results.rows.unshift(...starts, ...looks);
  await post("results", JSON.stringify(results));
} catch (error) {
  print(String(error?.stack ?? error));
  await post("results", JSON.stringify({ error: String(error?.message ?? error) }));
}
