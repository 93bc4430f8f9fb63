/** Runs workloads through libraries and returns the rows of results. */

import { elements, errorOf, operands } from "./data.mjs";
import { measure, measureOnce } from "./timing.mjs";

const GIVE_UP_MS = 4000; // an operation estimated to take longer is not run

/**
 * Libraries are `{name, isPeer, cases(workload, inputs) → Promise<Case[]>, end()}`. A
 * case that fails becomes a line of `log`, not a row. `options` are `budget` (in
 * milliseconds a case), `warm()` (keeps the GPU busy), `log`, and `keep(rows)`, which
 * gets what is known so far.
 */
export async function runTable(workloads, libraries, options) {
  const { log, keep } = options;
  const rows = [];
  for (const workload of workloads) {
    const inputs = operands(workload);
    for (const library of libraries) {
      try {
        const hopeless = library.isPeer && (await hopelessRow(workload, library));
        if (hopeless) {
          log(lineOf(hopeless));
          rows.push(hopeless);
          continue;
        }
        for (const item of await library.cases(workload, inputs)) {
          const row = await measureCase(workload, inputs, item, options);
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

/**
 * Returns an estimated row where smaller sizes of a workload say that one operation
 * would take many seconds, null where it may be tried.
 */
async function hopelessRow(workload, library) {
  let known = null;
  for (const smaller of [...workload.smaller, workload]) {
    if (known && known.estimate(smaller) > GIVE_UP_MS) {
      const ms = known.estimate(workload);
      const rate = workload.work / ms / 1e6;
      return {
        workload: workload.name,
        impl: known.impl,
        ms,
        rate,
        unit: workload.unit,
        err: null,
        ok: true,
        estimated_from: `${known.ms.toFixed(1)} ms for ${known.size} elements`,
      };
    }
    if (smaller === workload) break;
    const [item] = await library.cases(smaller, operands(smaller));
    if (!item) break;
    const { single_ms } = await measureOnce(item);
    await library.end();
    known = observed(item.name, smaller, single_ms, known);
  }
  return null;
}

/** Time as a power of the work, which two sizes tell; one size alone: proportional. */
function observed(impl, { work, output }, ms, before) {
  const growth = before ? Math.log(ms / before.ms) / Math.log(work / before.work) : 1;
  const power = Math.min(3, Math.max(1, growth));
  const estimate = (other) => ms * (other.work / work) ** power;
  return { impl, work, ms, size: elements(output), estimate };
}

/** Returns a row; `inputs` null leaves the result unchecked. */
export async function measureCase(workload, inputs, item, options) {
  const { log } = options;
  try {
    const found = await measure(item, options);
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
    row.estimated_from
      ? `not run: ${row.estimated_from}`
      : counts.map((number) => number.toFixed(2)).join("/"),
  ].join(" ");
}

function shown(number, digits) {
  return (number ?? null) === null ? "-" : number.toFixed(digits);
}

export function messageOf(error) {
  return String(error?.message ?? error).trim().split("\n").slice(-3).join(" | ").slice(0, 500);
}
