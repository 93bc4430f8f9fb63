/**
 * The timer of every table. A case is `{name, group, batch(count) → milliseconds}`: a
 * batch enqueues `count` operations, a multiple of `group`, and waits for them.
 * `regroup(count)`, where a case has it, makes smaller groups, so that the GPU does not
 * wait for Python to build a group of long operations.
 *
 * Batches grow until one takes `target` milliseconds; then `rounds` batches of each case
 * alternate with those of the others, in another order each round, so that a busy moment
 * of the machine affects all of them. The best batch counts.
 */

const HOPELESS_MS = 800; // an operation that takes longer is timed once
const MOST_PER_BATCH = 4000;
const MOST_GROWTH = 16;
const GROUP_MS = 4; // a group need not take longer

/**
 * Returns milliseconds per operation of each case: `ms` and `median_ms` of batches,
 * `cold_ms` and `single_ms` of the first and of a later group; or its `error`.
 * @param options `target`, `rounds`, `warm()`: before a case's batches, `pause()`:
 * before each batch
 */
export async function measure(cases, { target, rounds, warm = idle, pause = idle }) {
  const found = [];
  for (const item of cases) found.push(await attempt(() => prepare(item, target, warm)));
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < cases.length; i++) {
      const index = (i + round) % cases.length;
      const { error, count, samples, isHopeless } = found[index];
      if (error || isHopeless) continue;
      await pause();
      const { error: late, ms } = await attempt(async () => ({
        ms: await cases[index].batch(count),
      }));
      if (late) found[index].error = late;
      else samples.push(ms / count);
    }
  }
  return found.map(({ error, cold, single, samples, count }) => {
    if (error) return { error };
    const sorted = samples.sort((a, b) => a - b);
    const [ms, median] = [sorted[0], sorted[sorted.length >> 1]];
    return { ms, median_ms: median, single_ms: single, cold_ms: cold, count };
  });
}

const idle = async () => {};

/** Finds how many operations take `target` milliseconds, the wait for them included. */
async function prepare(item, target, warm) {
  const cold = await item.batch(item.group);
  // A case that is slow without compilation, too, is not run a third time.
  if (cold / item.group < HOPELESS_MS) await item.batch(item.group);
  const single = await item.batch(item.group);
  const one = single / item.group;
  if (one > HOPELESS_MS) {
    return { cold, single, count: item.group, isHopeless: true, samples: [one] };
  }
  const fitting = Math.ceil(GROUP_MS / one);
  if (item.regroup && fitting < item.group) {
    await item.regroup(fitting);
    await item.batch(fitting); // plans it
  }
  await warm();
  const most = Math.max(1, Math.floor(MOST_PER_BATCH / item.group));
  for (let groups = 1; ; ) {
    const spent = await item.batch(groups * item.group);
    if (spent >= target || groups === most) {
      return { cold, single, count: groups * item.group, samples: [] };
    }
    const growth = Math.min(MOST_GROWTH, (1.1 * target) / Math.max(spent, 0.01));
    groups = Math.min(most, Math.ceil(groups * growth));
  }
}

async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    return { error };
  }
}
