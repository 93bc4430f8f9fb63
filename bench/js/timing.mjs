/**
 * Times one case. A case is `{name, group, run(count), sync(), read()}`: `run` enqueues
 * operations, a multiple of `group`; `sync` waits for the GPU; `read` returns the last
 * result's numbers.
 */

import { counters, gpuMilliseconds, resetCounters } from "./instruments.mjs";

const HOPELESS_MS = 800; // one operation that takes longer is timed once
const MOST_PER_BATCH = 200;
const MOST_BATCHES = 12;
const FEWEST_BATCHES = 3;
const MOST_TIMED_PASSES = 20;

/** Returns milliseconds per operation, cold and warm, and counts per operation. */
export async function measure(item, budget) {
  const cold = await timed(item, item.group);
  await timed(item, item.group);
  resetCounters();
  const single = await timed(item, item.group);
  const first = { cold_ms: cold, single_ms: single };
  const one = single / item.group;
  if (one > HOPELESS_MS) {
    const counts = perOperation(item.group);
    return { ...first, ms: one, median_ms: one, gpu_ms: null, ...counts };
  }
  const fitting = Math.round(budget / 4 / Math.max(one, 0.02) / item.group);
  const most = Math.max(1, Math.floor(MOST_PER_BATCH / item.group));
  const count = item.group * Math.max(1, Math.min(most, fitting));
  const batches = [];
  const started = performance.now();
  resetCounters();
  while (batches.length < MOST_BATCHES) {
    batches.push((await timed(item, count)) / count);
    const spent = performance.now() - started;
    if (spent > budget * 8) break;
    if (batches.length >= FEWEST_BATCHES && spent > budget) break;
  }
  const counts = perOperation(batches.length * count);
  batches.sort((a, b) => a - b);
  const ms = batches[0];
  const gpu = await gpuTime(item, Math.max(item.group, Math.min(count, MOST_TIMED_PASSES)));
  return { ms, median_ms: batches[batches.length >> 1], gpu_ms: gpu, ...first, ...counts };
}

async function timed(item, count) {
  const start = performance.now();
  await item.run(count);
  await item.sync();
  return performance.now() - start;
}

async function gpuTime(item, count) {
  const whole = count - (count % item.group);
  const total = await gpuMilliseconds(() => timed(item, whole));
  return total === null ? null : total / whole;
}

function perOperation(operations) {
  const shares = Object.entries(counters).map(([name, n]) => [name, n / operations]);
  return Object.fromEntries(shares);
}
