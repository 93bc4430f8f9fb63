/**
 * Times the playground from navigation to the first result, in a window of its own: Run
 * is pressed as soon as there is a button, and waits for Python by itself.
 *
 * The first time nothing is cached; after that the browser has the files and the page
 * its snapshot of Python.
 */

import { linkTo, openWindow, until } from "./playground.mjs";

const WARM_STARTS = 4;

const PROGRAM = `import tensorweb as tw
x = tw.ones((4, 4)) @ tw.ones((4, 4))
print("sum", int(x.sum().item()))
`;
const ANSWER = "sum 64";

/** Returns rows of milliseconds, cold and warm; a failure becomes a line of the log. */
export async function measureStarts({ site, host, network }, print) {
  const impl = `tensorweb in ${host}`;
  const rows = [];
  try {
    const address = await linkTo(site, PROGRAM);
    rows.push(row(`start_cold${network}`, impl, [await start(address)]));
    const warm = [];
    for (let i = 0; i < WARM_STARTS; i++) warm.push(await start(address));
    rows.push(row(`start_warm${network}`, impl, warm));
    print(`start: cold ${rows[0].ms.toFixed(0)} ms, warm ${rows[1].ms.toFixed(0)} ms`);
  } catch (error) {
    print(`start: left out, ${error.message}`);
  }
  return rows;
}

function row(workload, impl, samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const [ms, median] = [sorted[0], sorted[sorted.length >> 1]];
  return { workload, impl, ms, median_ms: median, rate: 1e3 / ms, unit: "start/s", err: null };
}

/** Opens the playground in a fresh window and returns milliseconds to the answer. */
async function start(address) {
  const begin = performance.now();
  const opened = openWindow(address);
  try {
    const run = await until("the Run button", () => button(opened));
    run.click();
    await until("the first result", () => answered(opened));
    return performance.now() - begin;
  } finally {
    opened.close();
  }
}

/** The Run button, once the editor shows the link's program. */
function button({ document }) {
  const editor = document?.querySelector("#editor");
  if (!editor?.textContent.includes("tw.ones((4, 4))")) return null;
  const found = document.querySelector("#run");
  return found?.getAttribute("aria-disabled") === "false" ? found : null;
}

function answered({ document }) {
  const output = document?.querySelector("#output");
  if (output?.textContent.includes(ANSWER)) return true;
  if (document?.body?.dataset.state === "error") {
    throw new Error(`the page failed: ${output?.textContent.slice(0, 300)}`);
  }
  return null;
}
