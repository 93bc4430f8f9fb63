/**
 * Compares libraries on the CPU: each has a worker of its own, and one batch after the
 * other is timed, so that only one of them is at work.
 */

import { measureInTurn } from "../js/cpu/rounds.mjs";

const PAUSE_MS = 10; // threads of a library spin for a while after their work
const log = document.querySelector("#log");
let posted = Promise.resolve();

function print(text) {
  log.textContent += `${text}\n`;
  post("log", text);
}

/** Posts one after another, so that lines stay in order. */
function post(path, body) {
  posted = posted.then(() => fetch(`../${path}`, { method: "POST", body }));
  return posted;
}

/** A library in its worker; asks one question at a time. */
class Contender {
  constructor(row) {
    this.row = row;
    this.worker = new Worker(new URL("cpu-worker.mjs", import.meta.url), { type: "module" });
  }

  ask(question, ...rest) {
    return new Promise((resolve, reject) => {
      this.worker.onerror = ({ message }) => reject(new Error(message || "no worker"));
      this.worker.onmessage = ({ data: { answer, error } }) =>
        error === undefined ? resolve(answer) : reject(new Error(error));
      this.worker.postMessage([question, ...rest]);
    });
  }
}

async function openAll(specification) {
  const opened = [];
  for (const row of specification.libraries) {
    const started = performance.now();
    const contender = new Contender(row);
    try {
      await contender.ask("open", row, specification);
      opened.push(contender);
      print(`${row.title}: ready in ${(performance.now() - started).toFixed(0)} ms`);
    } catch (error) {
      contender.worker.terminate();
      print(`${row.title}: left out, ${error.message}`);
    }
  }
  return opened;
}

/** Returns the rows of one workload, of all contenders that have it. */
async function compare(workload, contenders, { batch, rounds }) {
  const cases = [];
  const taking = contenders.filter(({ row }) => row.is_roof === workload.is_roof);
  for (const contender of taking) {
    const { title, threads } = contender.row;
    const found = await contender.ask("prepare", workload).catch(({ message }) => {
      print(`${workload.name}: ${title} failed: ${message}`);
      return [];
    });
    found.forEach((name, place) => {
      const impl = threads > 1 ? `${name}, ${threads} threads` : `${name}, 1 thread`;
      const timed = (count) => contender.ask("batch", place, count);
      cases.push({ contender, place, impl, batch: timed });
    });
  }
  const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const times = await measureInTurn(cases, { batch, rounds, pause });
  const rows = [];
  for (const [i, { contender, place, impl }] of cases.entries()) {
    try {
      if (times[i].error) throw times[i].error;
      const err = workload.is_roof ? null : await contender.ask("check", place);
      const row = {
        workload: workload.name,
        impl,
        library: contender.row.library,
        threads: contender.row.threads,
        rate: workload.work / times[i].ms / 1e6,
        unit: workload.unit,
        err,
        ok: err === null || err <= workload.tolerance,
        ...times[i],
      };
      rows.push(row);
      print(lineOf(row));
    } catch (error) {
      print(`${workload.name}: ${impl} failed: ${error.message}`);
    }
  }
  for (const contender of taking) await contender.ask("end").catch(() => {});
  return rows;
}

function lineOf({ workload, impl, ms, median_ms: median, cold_ms: cold, rate, unit, err, ok }) {
  return [
    workload.padEnd(18),
    impl.padEnd(44),
    `${ms.toFixed(4)} ms`.padStart(14),
    `median ${median.toFixed(4)}`.padStart(18),
    `cold ${cold.toFixed(1)}`.padStart(13),
    rate.toPrecision(3).padStart(8),
    unit.padEnd(11),
    err === null ? "" : `${err.toExponential(1)}${ok ? "" : " BAD"}`,
  ].join(" ");
}

async function run() {
  const specification = await (await fetch("../specification.json")).json();
  const contenders = await openAll(specification);
  const about = {
    browser: navigator.userAgent.match(/(Chrome|Firefox)\/[\d.]+/)?.[0] ?? "",
    isolated: crossOriginIsolated,
  };
  const workloads = [...specification.roofs, ...specification.workloads];
  for (const workload of workloads) {
    const rows = await compare(workload, contenders, specification);
    const isLast = workload === workloads.at(-1);
    // One by one, so that a browser that ends early leaves its results.
    void post("results", JSON.stringify({ ...about, rows, is_last: isLast }));
  }
}

try {
  await run();
} catch (error) {
  print(String(error?.stack ?? error));
  await post("results", JSON.stringify({ error: String(error?.message ?? error) }));
}
