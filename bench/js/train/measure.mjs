/**
 * Times training steps. A trainer is `{run(count), sync(), loss(), end()}`: `run` takes
 * steps, `sync` waits for the GPU, `loss` reads the loss of the newest step.
 */

import { counters, gpuMilliseconds, resetCounters } from "../instruments.mjs";

const COMPARED = 20; // steps after which losses are compared
const BATCH_MS = 250;
const MOST_STEPS = 2000;
const BATCHES = 4;
const WAITED = 10;
const MOST_TIMED = 10; // steps whose passes are timed

const now = () => performance.now();

/** Returns a row of results; `first_ms` is the first step, compilation included. */
export async function measureTrainer(make, warm) {
  let begin = now();
  const trainer = await make();
  await trainer.run(1);
  await trainer.sync();
  const first = now() - begin;
  const losses = [await trainer.loss()];
  await trainer.run(COMPARED - 1);
  losses.push(await trainer.loss());
  await warm();
  let count = 1;
  for (;;) {
    const spent = await timed(trainer, count);
    if (spent >= BATCH_MS || count >= MOST_STEPS) break;
    const growth = Math.min(16, (1.1 * BATCH_MS) / Math.max(spent, 0.01));
    count = Math.min(MOST_STEPS, Math.ceil(count * growth));
  }
  const batches = [];
  for (let i = 0; i < BATCHES; i++) batches.push((await timed(trainer, count)) / count);
  batches.sort((a, b) => a - b);
  const waited = [];
  for (let i = 0; i < WAITED; i++) waited.push(await timed(trainer, 1));
  resetCounters();
  const few = Math.min(count, MOST_TIMED);
  await timed(trainer, few);
  const counts = Object.entries(counters).map(([name, n]) => [name, n / few]);
  const python = trainer.python ? await trainer.python(few) : null;
  await trainer.sync();
  const gpu = await gpuMilliseconds(() => timed(trainer, few));
  const row = {
    ms: batches[0],
    median_ms: batches[BATCHES >> 1],
    single_ms: Math.min(...waited),
    first_ms: first,
    python_ms: python,
    gpu_ms: gpu === null ? null : gpu / few,
    losses,
    ...Object.fromEntries(counts),
  };
  trainer.end();
  return row;
}

async function timed(trainer, count) {
  const begin = now();
  await trainer.run(count);
  await trainer.sync();
  return now() - begin;
}
