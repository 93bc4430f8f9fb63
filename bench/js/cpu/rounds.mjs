/**
 * Times cases in turn: a batch of each, round after round, so that whatever slows the
 * machine for a while slows all of them; the best batch counts.
 *
 * A case is `{batch(count) → Promise<milliseconds>}` for `count` operations.
 */

const HOPELESS_MS = 800; // an operation that takes longer is not repeated in a batch
const FEWEST_ROUNDS = 2;
const MOST_GROWTH = 16;
const MOST_PER_BATCH = 1e6;

/**
 * Returns, for each case, milliseconds per operation: the best batch and the median, the
 * first call and a warm one. A case that throws has its `error` instead.
 * @param options `batch`: milliseconds that a batch takes, `rounds`: how many of each,
 * `pause()`: waits for what runs on after a batch
 */
export async function measureInTurn(cases, { batch, rounds, pause }) {
  const found = [];
  for (const item of cases) found.push(await attempt(() => prepare(item, batch)));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < cases.length; i++) {
      const place = (i + round) % cases.length; // none always follows the same other
      const known = found[place];
      if (known.error || (known.isHopeless && round >= FEWEST_ROUNDS)) continue;
      await pause();
      const { error, ms } = await attempt(async () => ({
        ms: await cases[place].batch(known.count),
      }));
      if (error) known.error = error;
      else known.samples.push(ms / known.count);
    }
  }
  return found.map(summary);
}

/** Runs a case cold, then until it is warm; finds how many operations fill a batch. */
async function prepare(item, target) {
  const cold = await item.batch(1);
  const single = await item.batch(1);
  if (single > HOPELESS_MS) {
    return { cold, single, count: 1, isHopeless: true, samples: [single] };
  }
  let count = 1;
  for (;;) {
    const spent = await item.batch(count);
    if (spent >= target || count >= MOST_PER_BATCH) break;
    const growth = Math.min(MOST_GROWTH, (1.1 * target) / Math.max(spent, 0.01));
    count = Math.min(MOST_PER_BATCH, Math.ceil(count * growth));
  }
  return { cold, single, count, isHopeless: false, samples: [] };
}

async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    return { error };
  }
}

function summary({ error, cold, single, samples }) {
  if (error) return { error };
  const sorted = [...samples].sort((a, b) => a - b);
  const [ms, median] = [sorted[0], sorted[sorted.length >> 1]];
  return { ms, median_ms: median, single_ms: single, cold_ms: cold };
}
