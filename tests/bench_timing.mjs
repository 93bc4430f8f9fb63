/**
 * Runs one workload through two libraries that only let a clock run on; prints rows and
 * calls. The clock is ours, so that a busy machine measures the same.
 */

import { runTable } from "../bench/js/table.mjs";
import { measure } from "../bench/js/timing.mjs";

const workload = (length) => ({
  name: "elem",
  program: "elem",
  inputs: [{ shape: [length], seed: 1, low: 0, high: 1, dtype: "float32" }],
  output: [length],
  work: length * 8,
  unit: "GB/s",
  tolerance: 1e-6,
  smaller: [],
});
const whole = { ...workload(4096), smaller: [workload(64), workload(512)] };

const calls = [];

/** A library whose operation takes `milliseconds(length)`. */
function library(name, isPeer, milliseconds) {
  return {
    name,
    isPeer,
    async cases({ output: [length] }, [x]) {
      calls.push(`${name} ${length}`);
      const run = (count) => wait(count * milliseconds(length));
      const read = () => x.map((value) => Math.exp(-value * value) * 2 + 1);
      return [{ name: `${name} elem`, group: 1, run, sync: async () => {}, read }];
    },
    end: async () => {},
  };
}

let now = 0;
Object.defineProperty(performance, "now", { value: () => now });

function wait(milliseconds) {
  now += milliseconds;
}

const libraries = [
  library("quick", true, () => 0.5),
  library("slow", true, (length) => 16 * (length / 512) ** 3),
  library("own", false, () => 0.5),
];
const warm = async () => calls.push("warm");
const rows = await runTable([whole], libraries, { budget: 50, warm, log: () => {} });

const groups = [];
const regroups = [];
const item = {
  group: 64,
  regroup: (count) => regroups.push((item.group = count)),
  run: (count) => {
    groups.push(count);
    wait(count * 0.5);
  },
  sync: async () => {},
};
await measure(item, { budget: 50, warm: async () => {} });
console.log(JSON.stringify({ rows, calls, groups, regroups }));
