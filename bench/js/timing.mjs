/**
 * Times one case. A case is `{name, group, run(count), sync(), read()}`: `run` enqueues
 * operations, a multiple of `group`; `sync` waits for the GPU; `read` returns the last
 * result's numbers. `regroup(count)`, where a case has it, makes smaller groups: where
 * operations are long, the GPU shall not wait for a whole group of them.
 *
 * Every library is timed alike: the GPU is kept busy first, then batches grow until one
 * fills a fifth of the budget, so that the wait at a batch's end hardly counts, then the
 * best of several such batches is the time.
 */

import { counters, gpuMilliseconds, resetCounters } from "./instruments.mjs";

const HOPELESS_MS = 800; // one operation that takes longer is timed once
const SHARES = 5; // batches in a budget
const MOST_PER_BATCH = 4000;
const MOST_GROWTH = 16;
const FEWEST_BATCHES = 3;
const MOST_TIMED_PASSES = 20;
const GPU_BATCHES = 3;
const GROUP_MS = 4; // a group need not take longer

/** Returns milliseconds per operation, cold and warm, and counts per operation. */
export async function measure(item, { budget, warm }) {
  const first = await measureOnce(item);
  const one = first.single_ms / item.group;
  if (one > HOPELESS_MS) {
    const counts = perOperation(item.group);
    return { ...first, ms: one, median_ms: one, gpu_ms: null, ...counts };
  }
  const fitting = Math.ceil(GROUP_MS / one);
  if (item.regroup && fitting < item.group) {
    item.regroup(fitting);
    await timed(item, fitting); // plans it
  }
  await warm();
  const count = await fittingCount(item, budget / SHARES);
  const batches = [];
  const started = performance.now();
  resetCounters();
  for (;;) {
    batches.push((await timed(item, count)) / count);
    const spent = performance.now() - started;
    if (spent > budget * 4) break;
    if (batches.length >= FEWEST_BATCHES && spent > budget) break;
  }
  const counts = perOperation(batches.length * count);
  batches.sort((a, b) => a - b);
  const median = batches[batches.length >> 1];
  const gpu = await gpuTime(item, Math.max(item.group, Math.min(count, MOST_TIMED_PASSES)));
  return { ms: batches[0], median_ms: median, gpu_ms: gpu, ...first, ...counts };
}

/** Runs one group cold and one warm; returns their milliseconds. */
export async function measureOnce(item) {
  const cold = await timed(item, item.group);
  // What is slow without its compilation too is not run a third time.
  if (cold / item.group < HOPELESS_MS) await timed(item, item.group);
  resetCounters();
  return { cold_ms: cold, single_ms: await timed(item, item.group) };
}

/** Returns how many operations fill `target` milliseconds, the wait for them included. */
async function fittingCount(item, target) {
  const most = Math.max(1, Math.floor(MOST_PER_BATCH / item.group));
  let groups = 1;
  for (;;) {
    const spent = await timed(item, groups * item.group);
    if (spent >= target || groups === most) return groups * item.group;
    const growth = Math.min(MOST_GROWTH, (1.1 * target) / Math.max(spent, 0.01));
    groups = Math.min(most, Math.ceil(groups * growth));
  }
}

async function timed(item, count) {
  const start = performance.now();
  await item.run(count);
  await item.sync();
  return performance.now() - start;
}

/** Returns the least milliseconds per operation of some batches by the GPU's clock. */
async function gpuTime(item, count) {
  const whole = count - (count % item.group);
  const totals = [];
  for (let i = 0; i < GPU_BATCHES; i++) {
    const total = await gpuMilliseconds(() => timed(item, whole));
    if (total === null) return null;
    totals.push(total);
  }
  return Math.min(...totals) / whole;
}

function perOperation(operations) {
  const shares = Object.entries(counters).map(([name, n]) => [name, n / operations]);
  return Object.fromEntries(shares);
}
