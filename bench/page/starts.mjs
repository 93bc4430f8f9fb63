/**
 * Times the playground from navigation to the first result, in a frame of this page: Run
 * is pressed as soon as there is a button, and waits for Python by itself.
 *
 * The first time nothing is cached; after that the browser has the files and the page
 * its snapshot of Python.
 */

const WARM_STARTS = 4;
const PATIENCE_MS = 180_000;

const PROGRAM = `import tensorweb as tw
x = tw.ones((4, 4)) @ tw.ones((4, 4))
print("sum", int(x.sum().item()))
`;
const ANSWER = "sum 64";

/** Returns rows of milliseconds, cold and warm; a failure becomes a line of the log. */
export async function measureStarts({ site, host }, print) {
  const impl = `tensorweb in ${host}`;
  const rows = [];
  try {
    const address = `${new URL(site, location.href)}#code=${await encoded(PROGRAM)}`;
    rows.push(row("start_cold", impl, [await start(address)]));
    const warm = [];
    for (let i = 0; i < WARM_STARTS; i++) warm.push(await start(address));
    rows.push(row("start_warm", impl, warm));
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

/** Opens the playground in a fresh frame and returns milliseconds to the answer. */
async function start(address) {
  const frame = document.createElement("iframe");
  const begin = performance.now();
  frame.src = address;
  document.body.append(frame);
  try {
    const run = await until("the Run button", begin, () => button(frame));
    run.click();
    await until("the first result", begin, () => answered(frame));
    return performance.now() - begin;
  } finally {
    frame.remove();
  }
}

/** The Run button, once the editor shows the link's program. */
function button({ contentDocument }) {
  const editor = contentDocument?.querySelector("#editor");
  if (!editor?.textContent.includes("tw.ones((4, 4))")) return null;
  const found = contentDocument.querySelector("#run");
  return found && !found.disabled ? found : null;
}

function answered({ contentDocument }) {
  const output = contentDocument?.querySelector("#output");
  if (output?.textContent.includes(ANSWER)) return true;
  if (contentDocument?.body?.dataset.state === "error") {
    throw new Error(`the page failed: ${output?.textContent.slice(0, 300)}`);
  }
  return null;
}

async function until(what, begin, look) {
  for (;;) {
    const found = look();
    if (found) return found;
    if (performance.now() - begin > PATIENCE_MS) throw new Error(`no sign of ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}

/** The form of the page's links: deflate-raw, base64url. */
async function encoded(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
