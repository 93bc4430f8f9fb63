/**
 * The page that measures in a browser: the playground's start and pictures, one worker
 * that runs a specification on the GPU, or a worker for each library of the CPU. Rows go
 * to the server as they come, so that a browser that ends early leaves its results.
 */

import { measurePlayground } from "./playground.mjs";
import { openLibraries, runTable } from "./run.mjs";

const PAUSE_MS = 10; // threads of a library spin for a while after their work
const log = document.querySelector("#log");
let posted = Promise.resolve();

function print(text) {
  log.textContent += `${text}\n`;
  void post("log", text);
}

/** Posts one body after another, so that lines stay in order. */
function post(path, body) {
  posted = posted.then(() => fetch(`../${path}`, { method: "POST", body }));
  return posted;
}

const keep = (rows) => void (rows.length && post("rows", JSON.stringify(rows)));

function openWorker() {
  const worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
  return (...request) =>
    new Promise((resolve, reject) => {
      worker.onerror = ({ message }) => reject(new Error(message || "the worker did not load"));
      worker.onmessage = ({ data }) => {
        if (data.log !== undefined) print(data.log);
        else if (data.rows) keep(data.rows);
        else if (data.error !== undefined) reject(new Error(data.error));
        else resolve(data.answer);
      };
      worker.postMessage(request);
    });
}

/** Returns a library whose cases run in a worker of its own. */
async function openRemote(row, specification) {
  const ask = openWorker();
  await ask("open", row, specification);
  const { library, threads, title } = row;
  const plural = threads > 1 ? "threads" : "thread";
  return {
    name: title,
    async cases(workload) {
      const names = await ask("prepare", workload);
      return names.map((name, index) => ({
        name: `${name}, ${threads} ${plural}`,
        facts: { library, threads },
        group: 1,
        batch: (count) => ask("batch", index, count),
        check: () => ask("check", index),
      }));
    },
    end: () => ask("end").catch(() => {}),
  };
}

async function compareOnCpu(specification) {
  const { contenders, workloads, budget, rounds } = specification;
  const open = (row) => openRemote(row, specification);
  const libraries = await openLibraries(contenders, open, print);
  const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const options = { target: budget, rounds, pause, log: print, keep, inTurn: true };
  await runTable(workloads, libraries, options);
  return {};
}

try {
  const specification = await (await fetch("../specification.json")).json();
  if (specification.site) keep(await measurePlayground(specification, print));
  const about = specification.contenders
    ? await compareOnCpu(specification)
    : await openWorker()("run", specification);
  const browser = navigator.userAgent.match(/(Chrome|Firefox)\/[\d.]+/)?.[0] ?? "";
  await post("results", JSON.stringify({ ...about, browser, isolated: crossOriginIsolated }));
} catch (error) {
  print(String(error?.stack ?? error));
  await post("results", JSON.stringify({ error: String(error?.message ?? error) }));
}
