/**
 * Times what a person waits for in the playground, opened in windows of its own: the
 * first result, pictures by size, a slider's last position, tensors that move, and the
 * longest time without a frame.
 */

const PATIENCE_MS = 180_000;
const WARM_STARTS = 4;
const REST_MS = 2_000;
const REPEATS = 3;
const LIVE_MS = 6_000;
const SLIDER_STEPS = 40;

const START = `import tensorweb as tw
x = tw.ones((4, 4)) @ tw.ones((4, 4))
print("sum", int(x.sum().item()))
`;

const large = (side) => `import tensorweb as tw
large = tw.realize(tw.reshape(tw.arange(${side * side}) % 1000, (${side}, ${side})) * 0.5)
small = tw.ones((2, 2))
`;

const SLIDES = `import tensorweb as tw
t = tw.arange(60 * 256 * 256).reshape((60, 256, 256))
`;

const DRAGGED = `import tensorweb as tw
width = 0.5
x = tw.linspace(-1.0, 1.0, 64)
ring = tw.exp(-((x[:, None] ** 2 + x ** 2 - width) ** 2) * 20)
total = ring.sum()
`;

const wave = (side) => `import tensorweb as tw
from time import perf_counter
across, down = tw.arange(${side}.0) * 0.05, tw.expand_dims(tw.arange(${side}.0) * 0.04, 1)
until = perf_counter() + ${LIVE_MS / 1e3 + 3}
t = 0.0
while perf_counter() < until:
    tw.show(tw.sin(across + t) * tw.cos(down - t), name="wave")
    t += 0.1
`;

const LOOKED_INSIDE = `import tensorweb as tw
from tensorweb import nn
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
x = tw.ones((8, 16))
for step in range(5):
    x = x * 1.1
y = model(x)
loss = (y ** 2).mean()
tw.show(loss)
`;

/** Tabs of a run's views and what each shows first; the latter need its values. */
const VIEWS = {
  Kernels: ".kernel-row",
  Timeline: ".timeline-sums > *",
  Memory: "#memory button",
  Compare: "#compare button",
};
const VIEWS_INSIDE = { Film: ".film-stage canvas", Model: ".model-list > li" };

/** Returns rows of milliseconds; a failure becomes a line of the log. */
export async function measurePlayground({ site, network, tiny, starts, looks }, print) {
  const rows = [];
  const add = (workload, samples, unit, work = 1) => {
    const sorted = [...samples].sort((a, b) => a - b);
    const [ms, median] = [sorted[0], sorted[sorted.length >> 1]];
    const row = { workload, impl: "tensorweb in Chromium", ms, median_ms: median };
    rows.push({ ...row, rate: (work / ms) * 1e3, unit, err: null });
    print(`${workload}: best ${ms.toFixed(1)} ms, median ${median.toFixed(1)}, of ${sorted.length}`);
  };
  const attempt = (name, action) =>
    action().catch(({ message }) => print(`${name}: left out, ${message}`));
  if (starts) await attempt("start", () => measureStarts(site, network, add));
  if (!looks) return rows;
  const page = await Playground.open(site);
  let longest = 0;
  const look = async (name, action) => {
    const stop = page.watchFrames();
    await attempt(name, action);
    longest = Math.max(longest, stop().gaps.at(-1) ?? 0);
  };
  for (const side of tiny ? [256, 1024, 4096] : [256, 1024, 4096, 10_000, 20_000]) {
    const name = `page_picture_${side}`;
    await look(name, async () => add(name, await page.pictures(side), "elements/s", side * side));
  }
  await look("page_slider", async () => add("page_slider", await page.slide(), "position/s"));
  await look("page_dragged", async () => add("page_dragged", await page.drag(), "change/s"));
  for (const side of [256, 512]) {
    await look(`page_live_${side}`, async () => {
      const { gaps, seen } = await page.showWave(side);
      add(`page_live_${side}`, [LIVE_MS / seen], "picture/s");
      add(`page_live_${side}_gap`, [gaps.at(-1)], "frame/s");
    });
  }
  await attempt("views", async () => {
    for (const [name, times] of Object.entries(await page.views())) add(name, times, "view/s");
  });
  add("page_longest_gap", [longest], "frame/s");
  page.window.close();
  return rows;
}

/**
 * The first start has empty caches; later ones have files and a snapshot of Python. The
 * first one opens a link, later ones the program that was open last, of the reader's own:
 * of a link the page blocks Run for half a second.
 */
async function measureStarts(site, network, add) {
  add(`start_cold${network}`, [await start(await linkTo(site, START))], "start/s");
  const address = new URL(site, location.href).href;
  const page = new Playground(address);
  await until("a ready page", () => page.state === "ready" && page.isRunnable);
  await page.run(START);
  page.leave();
  const warm = [];
  for (let i = 0; i < WARM_STARTS; i++) {
    // The browser is still ending the page before, and its kernels.
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    warm.push(await start(address));
  }
  add(`start_warm${network}`, warm, "start/s");
}

/** Returns milliseconds from opening an address to the program's output. */
async function start(address) {
  const begin = performance.now();
  const page = new Playground(address);
  try {
    const isShown = () => page.text("#editor").includes("tw.ones((4, 4))") && page.isRunnable;
    await until("the Run button", isShown);
    page.document.querySelector("#run").click();
    const isAnswered = () => page.state && page.text("#output").includes("sum 64");
    await until("the first result", isAnswered);
    return performance.now() - begin;
  } finally {
    page.leave();
  }
}

/** Waits until `test` returns something true. */
async function until(what, test) {
  const begin = performance.now();
  while (!test()) {
    if (performance.now() - begin > PATIENCE_MS) throw new Error(`no sign of ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
}

/** The page's address with a program in it: deflate-raw, base64url. */
async function linkTo(site, program) {
  const stream = new Blob([program]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const base64 = btoa(String.fromCharCode(...bytes));
  const code = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${new URL(site, location.href)}#code=${code}`;
}

class Playground {
  static async open(site) {
    const page = new Playground(await linkTo(site, "print('ready')"));
    // Right after the address has changed the program Run rests for a moment.
    await until("a ready page", () => page.state === "ready" && page.isRunnable);
    return page;
  }

  /** Opens a window of its own: no other page may show the playground in a frame. */
  constructor(address) {
    this.window = window.open(address, "_blank", "popup,width=1280,height=720");
    if (!this.window) throw new Error("the browser opened no window: allow pop-ups");
  }

  get document() {
    return this.window.document;
  }

  get state() {
    const state = this.document?.body?.dataset.state;
    if (state === "error") throw new Error(`the page failed: ${this.text("#output")}`);
    return state;
  }

  get isRunnable() {
    return this.document.querySelector("#run")?.getAttribute("aria-disabled") === "false";
  }

  text(selector) {
    return this.document?.querySelector(selector)?.textContent ?? "";
  }

  leave() {
    // Headless Chromium on a machine without fonts ends when a window closes.
    this.window.location.replace("about:blank");
  }

  begin(program) {
    this.window.tensorwebPage.editor.open(program);
    this.document.querySelector("#run").click();
  }

  async run(program) {
    this.begin(program);
    await until("the end of the program", () => this.state === "ready");
    await this.drawn();
  }

  async drawn() {
    const { dataset } = this.document.querySelector("#tensors");
    await until("a picture", () => dataset.view === "ready" || dataset.view === "error");
    if (dataset.view === "error") throw new Error(this.text(".viewer-problem"));
  }

  /** Chooses a tensor and returns milliseconds until its picture is drawn. */
  async choose(name) {
    const names = [...this.document.querySelectorAll(".tensor-name")];
    const chosen = names.find(({ textContent }) => textContent === name);
    if (!chosen) throw new Error(`there is no tensor ${name}`);
    const begin = performance.now();
    chosen.closest(".tensor").click();
    await this.drawn();
    return performance.now() - begin;
  }

  async pictures(side) {
    await this.run(large(side));
    const times = [];
    for (let i = 0; i < REPEATS; i++) {
      await this.choose("small");
      times.push(await this.choose("large"));
    }
    return times;
  }

  /**
   * Opens each view of a run, the first time with its script, and points at a kernel;
   * returns milliseconds until each is drawn.
   */
  async views() {
    const times = {};
    const time = async (name, act, selector) => {
      const begin = performance.now();
      act();
      await until(selector, () => this.isShown(selector));
      await new Promise((resolve) => this.window.requestAnimationFrame(resolve));
      times[`page_view_${name}`] = [performance.now() - begin];
    };
    const open = (label) => {
      const tabs = [...this.document.querySelectorAll("[role=tab]")];
      tabs.find((tab) => tab.offsetParent && tab.textContent.startsWith(label)).click();
    };
    const openAll = async (views) => {
      for (const [label, selector] of Object.entries(views)) {
        await time(label.toLowerCase(), () => open(label), selector);
      }
    };
    await this.run(LOOKED_INSIDE);
    await openAll(VIEWS);
    open("Kernels");
    const point = () => {
      const row = this.document.querySelector(".kernel-row");
      row.dispatchEvent(new this.window.PointerEvent("pointerenter"));
    };
    await time("lit_kernel", point, ".cm-lit-part");
    open("Tensors");
    this.window.tensorwebPage.run(null, { inside: true });
    await until("the end of the program", () => this.state === "ready");
    await this.drawn();
    const buttons = [...this.document.querySelectorAll("#tensors button")];
    const why = buttons.find((one) => one.textContent === "Why?");
    await time("why", () => why.click(), ".why-rows");
    await openAll(VIEWS_INSIDE);
    return times;
  }

  isShown(selector) {
    return [...this.document.querySelectorAll(selector)].some((one) => one.offsetParent);
  }

  /** Drags a slider, one position per frame, and times the picture of the last one. */
  async slide() {
    await this.run(SLIDES);
    const input = this.document.querySelector(".axes input[type=range]");
    const times = [];
    for (let i = 0; i < REPEATS; i++) {
      let begin = 0;
      for (let step = 1; step <= SLIDER_STEPS; step++) {
        await new Promise((resolve) => this.window.requestAnimationFrame(resolve));
        begin = performance.now();
        input.value = String(step + i);
        input.dispatchEvent(new this.window.Event("input", { bubbles: true }));
      }
      await this.drawn();
      times.push(performance.now() - begin);
    }
    return times;
  }

  /** Changes a number of the program and times the picture of what depends on it. */
  async drag() {
    await this.run(DRAGGED);
    const page = this.window.tensorwebPage;
    page.goTo(null, 2, 9);
    const text = this.document.querySelector(".cm-content");
    const key = { key: "ArrowUp", altKey: true, bubbles: true, cancelable: true };
    const times = [];
    for (let i = 0; i < 3 * REPEATS; i++) {
      const before = page.view.tensors;
      const begin = performance.now();
      text.dispatchEvent(new this.window.KeyboardEvent("keydown", key));
      await until("the values again", () => page.view.tensors !== before && this.state === "ready");
      await this.drawn();
      times.push(performance.now() - begin);
    }
    await until("a part of the program that ran again", () => this.text("#state").includes(" again"));
    return times;
  }

  /** Shows a wave in a loop and counts the pictures that a person can have seen. */
  async showWave(side) {
    this.begin(wave(side));
    await until("a picture that moves", () => /shown\d+/.test(this.text(".facts")));
    const stop = this.watchFrames(() => this.text(".facts"));
    await new Promise((resolve) => setTimeout(resolve, LIVE_MS));
    const found = stop();
    await until("the end of the program", () => this.state === "ready");
    await this.drawn();
    return found;
  }

  /** Measures the times between frames until the returned function is called. */
  watchFrames(read = () => null) {
    const gaps = [];
    const seen = new Set();
    let last = 0;
    let isOn = true;
    const frame = () => {
      const now = performance.now(); // the frame's own time may precede a long task
      if (last) gaps.push(now - last);
      last = now;
      seen.add(read());
      if (isOn) this.window.requestAnimationFrame(frame);
    };
    this.window.requestAnimationFrame(frame);
    return () => {
      isOn = false;
      return { gaps: gaps.sort((a, b) => a - b), seen: seen.size };
    };
  }
}
