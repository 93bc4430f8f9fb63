/**
 * Runs the benchmarks' JavaScript without a GPU and prints what it gives as JSON. The
 * input has `checked`: workloads and results. Time is a clock of our own, so that a busy
 * machine measures the same.
 */

import { readFileSync } from "node:fs";
import { errorOf, operands } from "../bench/js/data.mjs";
import { makeCase, runTable } from "../bench/js/run.mjs";
import { measure } from "../bench/js/timing.mjs";

const { checked, networks } = JSON.parse(readFileSync(0, "utf-8"));

let now = 0;
Object.defineProperty(performance, "now", { value: () => now });
const calls = [];

/** A case whose operation takes `milliseconds(count)`. */
function taking(name, milliseconds, rest = {}) {
  const run = (count) => {
    calls.push(`${name} ${count}`);
    now += count * milliseconds(count);
  };
  return makeCase({}, { name, run, ...rest });
}

const rows = [];
const lines = [];
const [log, keep] = [(line) => lines.push(line), (found) => rows.push(...found)];
const options = { target: 10, rounds: 5, log, keep };
const library = (name, cases) => ({ name, cases: async () => cases(), end: async () => {} });
const broken = () => Promise.reject(new Error("no memory"));
const libraries = [
  library("quick", () => [taking("quick", () => 0.5), makeCase({}, { name: "late", run: broken })]),
  library("early", () => broken()),
];
await runTable([{ name: "elem", work: 1e6, unit: "GB/s", inputs: [] }], libraries, options);
const table = { rows: rows.splice(0), lines: lines.splice(0) };

calls.length = 0;
const grouped = taking("grouped", () => 0.5, { group: 64 });
grouped.regroup = (count) => (grouped.group = count);
const [times] = await measure([grouped], { ...options, warm: async () => calls.push("warm") });
const groups = calls.splice(0);

let warmed = 0;
const together = [
  taking("steady", () => 0.5),
  taking("warming", () => (++warmed > 6 ? 0.25 : 1)),
  taking("hopeless", () => 900),
  makeCase({}, { name: "broken", run: broken }),
];
const inTurn = await measure(together, { target: 20, rounds: 4 });
const order = calls.splice(0);

console.log(
  JSON.stringify({
    ...{ table, groups, times, order },
    inTurn: inTurn.map(({ error, ...rest }) => (error ? { error: error.message } : rest)),
    checked: checked.map(({ workload, result }) => ({
      operands: operands(workload).map((values) => [...values]),
      error: errorOf(workload, result),
    })),
    networks: networks.map((network) =>
      operands(network).map((values) => [...values.slice(0, 3), ...values.slice(-2)]),
    ),
  }),
);
