/**
 * Times what a person waits for once the playground is there: pictures by size, a
 * slider's last position, tensors that move, and the longest time without a frame.
 */

import { Playground, until } from "./playground.mjs";

const SIDES = [256, 1024, 4096, 10_000, 20_000];
const TINY_SIDES = [256, 1024, 4096];
const LOOKS = 3;
const LIVE_MS = 6_000;
const LIVE_SIDES = [256, 512];
const STEPS = 40;

/** Returns rows of milliseconds; what fails becomes a line of the log. */
export async function measureLooks({ site, host, tiny }, print) {
  const impl = `tensorweb in ${host}`;
  const rows = [];
  const add = (workload, samples, work, unit) => {
    const sorted = [...samples].sort((a, b) => a - b);
    const [ms, median] = [sorted[0], sorted[sorted.length >> 1]];
    rows.push({ workload, impl, ms, median_ms: median, rate: (work / ms) * 1e3, unit, err: null });
    print(`${workload}: best ${ms.toFixed(1)} ms, median ${median.toFixed(1)}, of ${sorted.length}`);
  };
  const page = await Playground.open(site);
  let longest = 0;
  const attempt = async (name, measure) => {
    const frames = page.watchFrames();
    try {
      await measure();
    } catch (error) {
      print(`${name}: left out, ${error.message}`);
    }
    const gap = frames().gaps.at(-1) ?? 0;
    print(`${name}: at most ${gap.toFixed(1)} ms without a frame`);
    longest = Math.max(longest, gap);
  };
  try {
    for (const side of tiny ? TINY_SIDES : SIDES) {
      const name = `page_picture_${side}`;
      await attempt(name, async () => add(name, await pictures(page, side), side * side, "elements/s"));
    }
    await attempt("page_slider", async () => add("page_slider", await slider(page), 1, "position/s"));
    for (const side of LIVE_SIDES) {
      const name = `page_live_${side}`;
      await attempt(name, async () => {
        const { gaps, seen } = await live(page, side);
        add(name, [LIVE_MS / seen], 1, "picture/s");
        add(`${name}_gap`, [gaps.at(-1)], 1, "frame/s");
      });
    }
  } finally {
    add("page_longest_gap", [longest], 1, "frame/s");
    page.close();
  }
  return rows;
}

/** Looks at a large tensor after a small one. */
async function pictures(page, side) {
  await page.run(
    `import tensorweb as tw\nlarge = tw.realize(tw.reshape(tw.arange(${side * side}) % 1000, (${side}, ${side})) * 0.5)\nsmall = tw.ones((2, 2))`,
  );
  await page.pictured();
  const found = [];
  for (let i = 0; i < LOOKS; i++) {
    await page.look("small");
    found.push(await page.look("large"));
  }
  return found;
}

/** Drags a slider through forty positions, one a frame, and lets go. */
async function slider(page) {
  await page.run("import tensorweb as tw\nt = tw.arange(60 * 256 * 256).reshape((60, 256, 256))");
  await page.pictured();
  const input = page.document.querySelector(".axes input[type=range]");
  const found = [];
  for (let i = 0; i < LOOKS; i++) {
    let begin = 0;
    for (let step = 1; step <= STEPS; step++) {
      await new Promise((resolve) => page.window.requestAnimationFrame(resolve));
      begin = performance.now();
      input.value = String(step + i);
      input.dispatchEvent(new page.window.Event("input", { bubbles: true }));
    }
    await page.pictured();
    found.push(performance.now() - begin);
  }
  return found;
}

/** Lets a wave move and counts the pictures that a person can have seen. */
async function live(page, side) {
  page.begin(`import tensorweb as tw
from time import perf_counter
across, down = tw.arange(${side}.0) * 0.05, tw.expand_dims(tw.arange(${side}.0) * 0.04, 1)
until = perf_counter() + ${LIVE_MS / 1e3 + 3}
t = 0.0
while perf_counter() < until:
    tw.show(tw.sin(across + t) * tw.cos(down - t), name="wave")
    t += 0.1
`);
  const facts = page.document.querySelector(".facts");
  await until("a picture that moves", () => /shown\d+/.test(facts.textContent));
  const stop = page.watchFrames(() => facts.textContent);
  await new Promise((resolve) => setTimeout(resolve, LIVE_MS));
  const found = stop();
  await until("the end of the program", () => page.state === "ready");
  await page.pictured();
  return found;
}
