/** The playground in a window of its own, as a person uses it: run, look, wait. */

const PATIENCE_MS = 180_000;

/** Opens an address of the playground; no other page may show it in a frame. */
export function openWindow(address) {
  const opened = window.open(address, "_blank", "popup,width=1280,height=720");
  if (!opened) throw new Error("the browser opened no window: allow pop-ups");
  return opened;
}

/** Returns what `look` finds, asked again and again until it is neither null nor false. */
export async function until(what, look, pause = 4) {
  const begin = performance.now();
  for (;;) {
    const found = look();
    if (found) return found;
    if (performance.now() - begin > PATIENCE_MS) throw new Error(`no sign of ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** The page's address with a program in it: deflate-raw, base64url. */
export async function linkTo(site, program) {
  const stream = new Blob([program]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const base64 = btoa(String.fromCharCode(...bytes));
  const code = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${new URL(site, location.href)}#code=${code}`;
}

/** A playground that is ready for programs. */
export class Playground {
  static async open(site) {
    const opened = openWindow(await linkTo(site, "print('ready')"));
    const found = new Playground(opened);
    // Right after the address has changed the program Run rests for a moment.
    await until("a ready page", () => found.state === "ready" && found.isRunnable);
    return found;
  }

  constructor(opened) {
    this.window = opened;
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
    return this.document.querySelector("#run").getAttribute("aria-disabled") === "false";
  }

  text(selector) {
    return this.document.querySelector(selector)?.textContent.slice(0, 300) ?? "";
  }

  /** Starts a program; its end is another matter. */
  begin(program) {
    this.window.tensorwebPage.editor.open(program);
    this.document.querySelector("#run").click();
  }

  async run(program) {
    this.begin(program);
    await until("the end of the program", () => this.state === "ready");
  }

  /** Chooses a tensor of the strip and returns milliseconds until its picture is there. */
  async look(name) {
    const names = [...this.document.querySelectorAll(".tensor-name")];
    const wanted = names.find(({ textContent }) => textContent === name);
    if (!wanted) throw new Error(`there is no tensor ${name}`);
    const begin = performance.now();
    wanted.closest(".tensor").click();
    await this.pictured();
    return performance.now() - begin;
  }

  async pictured() {
    const { dataset } = this.document.querySelector("#tensors");
    await until("a picture", () => dataset.view === "ready" || dataset.view === "error");
    if (dataset.view === "error") throw new Error(this.text(".viewer-problem"));
  }

  /** Notes the times between the page's frames until the returned function is called. */
  watchFrames(look = () => null) {
    const gaps = [];
    const seen = new Set();
    let last = 0;
    let isOn = true;
    const frame = () => {
      const now = performance.now(); // the frame's own time may lie before a long task
      if (last) gaps.push(now - last);
      last = now;
      const found = look();
      if (found !== null) seen.add(found);
      if (isOn) this.window.requestAnimationFrame(frame);
    };
    this.window.requestAnimationFrame(frame);
    return () => {
      isOn = false;
      return { gaps: gaps.sort((a, b) => a - b), seen: seen.size };
    };
  }

  close() {
    this.window.close();
  }
}
