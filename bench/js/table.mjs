/** Runs workloads through libraries and returns the rows of results. */

import { errorOf, operands } from "./data.mjs";
import { measure } from "./timing.mjs";

/**
 * Libraries are `{name, cases(workload, inputs) → Promise<Case[]>, end()}`. A case that
 * fails becomes a line of `log`, not a row.
 */
export async function runTable(workloads, libraries, { budget, log, keep }) {
  const rows = [];
  for (const workload of workloads) {
    const inputs = operands(workload);
    for (const library of libraries) {
      try {
        for (const item of await library.cases(workload, inputs)) {
          const row = await measureCase(workload, inputs, item, { budget, log });
          if (row) rows.push(row);
          keep?.(rows);
        }
      } catch (error) {
        log(`${workload.name}: ${library.name} failed: ${messageOf(error)}`);
      }
      await library.end();
    }
  }
  return rows;
}

/** Returns a row; `inputs` null leaves the result unchecked. */
export async function measureCase(workload, inputs, item, { budget, log }) {
  try {
    const found = await measure(item, budget);
    const result = inputs && (await item.read());
    const err = inputs ? errorOf(workload, inputs, result) : null;
    const rate = workload.work / found.ms / 1e6;
    const row = {
      workload: workload.name,
      impl: item.name,
      ms: found.ms,
      rate,
      unit: workload.unit,
      err,
      ok: err === null || err <= workload.tolerance,
      gpu_rate: found.gpu_ms ? workload.work / found.gpu_ms / 1e6 : null,
      ...found,
    };
    log(lineOf(row));
    return row;
  } catch (error) {
    log(`${workload.name}: ${item.name} failed: ${messageOf(error)}`);
    return null;
  }
}

export const HEADING = [
  "workload".padEnd(16),
  "implementation".padEnd(36),
  "wall ms".padStart(10),
  "gpu ms".padStart(10),
  "single".padStart(9),
  "cold".padStart(9),
  "rate".padStart(10),
  "unit".padEnd(8),
  "error".padStart(9),
  "    dispatches/submits/bind groups/buffers per operation",
].join(" ");

function lineOf(row) {
  const counts = [row.dispatches, row.submits, row.bind_groups, row.buffers];
  return [
    row.workload.padEnd(16),
    row.impl.padEnd(36),
    shown(row.ms, 4).padStart(10),
    shown(row.gpu_ms, 4).padStart(10),
    shown(row.single_ms, 2).padStart(9),
    shown(row.cold_ms, 1).padStart(9),
    shown(row.rate, 1).padStart(10),
    row.unit.padEnd(8),
    (row.err === null ? "-" : row.err.toExponential(1)).padStart(9),
    row.ok ? "ok " : "BAD",
    counts.map((number) => number.toFixed(2)).join("/"),
  ].join(" ");
}

function shown(number, digits) {
  return number === null ? "-" : number.toFixed(digits);
}

export function messageOf(error) {
  return String(error?.message ?? error).trim().split("\n").slice(-3).join(" | ").slice(0, 500);
}
