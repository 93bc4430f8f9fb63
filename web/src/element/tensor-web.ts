/** The custom element `<tensor-web>`: a program in any page, with its editor, output and tensors. */

import { encodeCode } from "../page/link";
import { MAIN, pack } from "../page/program";
import type { DeviceName, RunRecord, TensorRecord } from "../page/protocol";
import type { Scheme } from "../page/media";
import code from "../panels/editor/code.css";
import { ICONS, button, el, icon } from "../parts/dom";
import tokens from "../../tokens.css";
import type { CodeEditor } from "./code-editor";
import { runtimeAt, type Runtime } from "./connection";
import { highlighted } from "./highlight";
import type { RunEvent } from "./messages";
import type { Results } from "./results";
import { adopt } from "./sheets";
import styles from "./element.css";

/** What an element does: nothing yet, wait for Python or for other programs, run, or show a result. */
export type TensorWebState = "idle" | "loading" | "queued" | "running" | "done" | "failed" | "stopped";

/** A tensor of the program; statistics are of its finite values. */
export interface TensorWebTensor {
  name: string;
  shape: number[];
  dtype: string;
  device: string;
  min: number | null;
  max: number | null;
  mean: number | null;
  nan: number;
  inf: number;
}

export interface TensorWebError {
  /** The class of the exception; `Unavailable` if the program could not run. */
  type: string;
  message: string;
  /** The program's line, counted from one; null outside of it. */
  line: number | null;
  traceback: string;
}

/** The detail of `tensorweb-result`, and what `run()` resolves to. */
export interface TensorWebResult {
  /** What the program printed, at most a million characters. */
  text: string;
  tensors: TensorWebTensor[];
  error: TensorWebError | null;
  /** The time that the program took. */
  seconds: number;
  stopped: boolean;
}

declare global {
  interface HTMLElementTagNameMap {
    "tensor-web": TensorWeb;
  }
  interface HTMLElementEventMap {
    "tensorweb-result": CustomEvent<TensorWebResult>;
    "tensorweb-state": CustomEvent<{ state: TensorWebState }>;
  }
}

const MOST_TEXT = 1_000_000;
const APPLE = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");
const BUSY: readonly TensorWebState[] = ["loading", "queued", "running"];

/** One run of an element's program. */
interface Run {
  id: number;
  result: TensorWebResult;
  source: string;
  isStopping: boolean;
  ended: Promise<TensorWebResult>;
}

/** Servers import the module as well, when they write pages. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

export class TensorWeb extends Base {
  /** The folder of the site that runs programs, for elements without `base`; by default this script's. */
  static base: string | null = null;
  static readonly observedAttributes = ["code", "src", "theme", "height", "readonly", "label", "href"];

  /** Modules and data that the program may import and open, by their names. */
  files: readonly { name: string; text: string }[] = [];

  readonly #root = this.attachShadow({ mode: "open" });
  readonly #box = el("div", { class: "box", role: "group" });
  readonly #code = el("div", { class: "code" });
  readonly #shown = el("pre", { class: "shown" });
  readonly #label = el("span", { class: "label", part: "label" });
  readonly #progress = el("span", { "aria-hidden": "true" });
  readonly #said = el("span", { role: "status" });
  readonly #run = button("", () => void this.run().catch(() => undefined), { class: "primary run" });
  readonly #stop = button("", () => this.stop(), { class: "stop" });
  readonly #open = el("a", { class: "open", target: "_blank", rel: "noopener" }, "Open in playground");
  readonly #results = el("div", { class: "slot", hidden: true });
  readonly #probe = el("span", { class: "probe", "aria-hidden": "true" });
  #area: HTMLTextAreaElement | null = null;
  #editor: CodeEditor | null = null;
  #loadingEditor: Promise<void> | null = null;
  #drawing: Promise<Results> | null = null;
  #view: Results | null = null;
  /** The program before the reader's edits. */
  #original = "";
  #isRead = false;
  #isComposing = false;
  /** The text that the link leads to; null for none. */
  #pointed: string | null = null;
  #state: TensorWebState = "idle";
  #current: Run | null = null;
  #last: Run | null = null;

  constructor() {
    super();
    adopt(this.#root, tokens.replace("color-scheme: light dark;", ""), code, styles);
    const keys = APPLE ? "⌘⏎" : "Ctrl+Enter";
    this.#run.append(icon(ICONS.run), "Run");
    this.#run.title = `Run the program (${keys})`;
    this.#run.setAttribute("aria-keyshortcuts", APPLE ? "Meta+Enter" : "Control+Enter");
    this.#stop.append(icon(ICONS.stop), "Stop");
    this.#stop.hidden = true;
    const bar = el("div", { class: "toolbar" }, this.#run, this.#stop, this.#label, el("div", { class: "state" }, this.#said, this.#progress), this.#open);
    this.#box.append(this.#code, bar, this.#results, this.#probe);
    this.#root.append(this.#box);
    // Before the editor's own keys, of which Ctrl+Enter is one.
    this.#box.addEventListener("keydown", (event) => this.#onKey(event), { capture: true });
    this.#probe.addEventListener("transitionend", () => this.#view?.recolour(this.#scheme()));
    for (const event of ["pointerenter", "focus"]) this.#open.addEventListener(event, () => void this.#point());
    this.#open.addEventListener("click", (event) => this.#onOpen(event));
  }

  connectedCallback(): void {
    if (document.readyState === "loading") {
      // The parser has not read the element's text yet.
      document.addEventListener("DOMContentLoaded", () => this.#begin(), { once: true });
    } else this.#begin();
  }

  attributeChangedCallback(name: string): void {
    if (!this.#isRead) return;
    if (name === "code") this.value = this.getAttribute("code") ?? "";
    if (name === "src") void this.#fetch();
    this.#dress();
    if (name === "readonly") this.#showCode(this.value);
  }

  /** The program's text, with the reader's edits. */
  get value(): string {
    if (!this.#isRead) this.#begin();
    return this.#editor?.text() ?? this.#area?.value ?? this.#original;
  }

  set value(text: string) {
    this.#isRead = true;
    this.#original = String(text);
    if (this.#editor) this.#editor.replace(this.#original);
    else this.#showCode(this.#original);
    this.#changed();
  }

  get state(): TensorWebState {
    return this.#state;
  }

  /** Run the program, after programs of other elements that wait. A run that is under way goes on. */
  run(): Promise<TensorWebResult> {
    return this.#start(false);
  }

  /** Stop the program, or do not run it. */
  stop(): void {
    if (!this.#current) return;
    this.#current.isStopping = true;
    this.#runtime().stop(this.#current.id);
  }

  override focus(): void {
    if (this.#editor) this.#editor.focus();
    else (this.#area ?? this.#run).focus();
  }

  /** Read the program and the attributes; done once. */
  #begin(): void {
    this.#dress();
    if (this.#isRead) return;
    this.#isRead = true;
    const text = this.getAttribute("code") ?? programIn(this);
    this.#original = text;
    this.#showCode(text);
    if (this.hasAttribute("src")) void this.#fetch().then(() => this.#runByItself());
    else this.#runByItself();
  }

  /** Whether programs may run unasked: the page is one of the site itself. */
  #runByItself(): void {
    if (!this.hasAttribute("autorun")) return;
    if (new URL(this.#base()).origin === location.origin) void this.#start(true).catch(() => undefined);
    else this.#say("Press Run: pages of other sites run nothing by themselves.");
  }

  async #fetch(): Promise<void> {
    const address = this.getAttribute("src") ?? "";
    try {
      const response = await fetch(new URL(address, document.baseURI));
      if (!response.ok) throw new Error(`its host answered ${response.status}`);
      const text = await response.text();
      if (this.getAttribute("src") === address && this.value === this.#original) this.value = text;
    } catch (error) {
      this.#say(`${address} could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #base(): string {
    const named = this.getAttribute("base") ?? TensorWeb.base ?? new URL("./", import.meta.url).href;
    const { href } = new URL(named, document.baseURI);
    return href.endsWith("/") ? href : `${href}/`;
  }

  #runtime(): Runtime {
    return runtimeAt(this.#base());
  }

  /** Apply the attributes. */
  #dress(): void {
    const theme = this.getAttribute("theme");
    const isChosen = theme === "light" || theme === "dark";
    // A page that says nothing of colours is light, whatever the reader prefers.
    const ofPage = getComputedStyle(this).colorScheme;
    this.#box.dataset["theme"] = isChosen ? theme : ofPage && ofPage !== "normal" ? "page" : "system";
    const label = this.getAttribute("label") ?? "";
    this.#label.textContent = label;
    this.#label.hidden = label === "";
    this.#box.setAttribute("aria-label", label || "Python program");
    const height = this.getAttribute("height");
    this.#box.style.setProperty("--height", height && /^\d+$/.test(height) ? `${height}px` : height);
    this.#open.href = this.getAttribute("href") ?? this.#base();
    this.#pointed = null;
  }

  #scheme(): Scheme {
    return getComputedStyle(this.#probe).color === "rgb(255, 255, 255)" ? "dark" : "light";
  }

  /** Show the code before its editor is loaded: a text field over the coloured text. */
  #showCode(text: string): void {
    const isReadonly = this.hasAttribute("readonly");
    this.#editor = null;
    this.#loadingEditor = null;
    this.#paint(text);
    if (isReadonly) {
      this.#area = null;
      this.#shown.removeAttribute("aria-hidden");
      this.#shown.setAttribute("tabindex", "0");
      this.#shown.setAttribute("role", "group");
      this.#shown.setAttribute("aria-label", "Python code");
      this.#code.replaceChildren(this.#shown);
      return;
    }
    const area = el("textarea", { class: "area", "aria-label": "Python code", rows: 1, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off" });
    area.value = text;
    area.addEventListener("input", () => {
      this.#paint(area.value);
      this.#changed();
    });
    area.addEventListener("focus", () => void this.#loadEditor());
    area.addEventListener("compositionstart", () => (this.#isComposing = true));
    area.addEventListener("compositionend", () => (this.#isComposing = false));
    this.#area = area;
    for (const name of ["tabindex", "role", "aria-label"]) this.#shown.removeAttribute(name);
    this.#shown.setAttribute("aria-hidden", "true");
    this.#code.replaceChildren(area, this.#shown);
  }

  #paint(text: string): void {
    // The last line needs its height although nothing is in it.
    this.#shown.replaceChildren(...highlighted(text), "\n");
  }

  /** Replace the text field by the editor; where that cannot be loaded, the field stays. */
  #loadEditor(): Promise<void> {
    this.#loadingEditor ??= (async () => {
      const area = this.#area;
      if (!area) return;
      try {
        const { openEditor } = await import("./code-editor");
        // A word that several keys compose would be cut.
        if (this.#isComposing) await new Promise((resolve) => area.addEventListener("compositionend", resolve, { once: true }));
        // The program may have been replaced in the meantime.
        if (area !== this.#area) return;
        const isFocused = this.#root.activeElement === area;
        const { value: text, selectionStart: from, selectionEnd: to } = area;
        const options = { root: this.#root, host: this.#code, original: this.#original, text, from, to, label: "Python code" };
        this.#editor = openEditor({ ...options, changed: () => this.#changed() });
        this.#area = null;
        area.remove();
        this.#shown.remove();
        if (isFocused) this.#editor.focus();
      } catch (error) {
        this.#loadingEditor = null;
        console.info("The editor could not be loaded; the text field stays:", error);
      }
    })();
    return this.#loadingEditor;
  }

  #changed(): void {
    this.#view?.age(this.#last !== null && this.#last.source !== this.value);
  }

  #goTo(line: number): void {
    if (this.hasAttribute("readonly")) return;
    void this.#loadEditor().then(() => this.#editor?.goTo(line));
  }

  /** Let the link lead to the program as it is now. */
  async #point(): Promise<void> {
    const { value } = this;
    if (value === this.#pointed) return;
    const own = this.getAttribute("href");
    const address = own !== null && value === this.#original ? own : `${this.#base()}#code=${await encodeCode(pack([{ name: MAIN, text: value }, ...this.files]))}`;
    this.#open.href = address;
    this.#pointed = value;
  }

  /** A click may come before the program is packed into the link. */
  #onOpen(event: MouseEvent): void {
    if (this.value === this.#pointed) return;
    event.preventDefault();
    void this.#point().then(() => window.open(this.#open.href, "_blank", "noopener"));
  }

  #onKey(event: KeyboardEvent): void {
    if (!(event.ctrlKey || event.metaKey) || event.isComposing) return;
    if (event.key !== "Enter" && event.key !== ".") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") void this.run().catch(() => undefined);
    else this.stop();
  }

  #start(isAutomatic: boolean): Promise<TensorWebResult> {
    if (this.#current) return this.#current.ended;
    const source = this.value;
    const result: TensorWebResult = { text: "", tensors: [], error: null, seconds: 0, stopped: false };
    let end: (result: TensorWebResult) => void = () => undefined;
    const ended = new Promise<TensorWebResult>((resolve) => (end = resolve));
    const run: Run = { id: 0, result, source, isStopping: false, ended };
    this.#current = run;
    this.#setState("queued");
    this.#drawing ??= this.#openResults();
    const drawing = this.#drawing;
    // Events are drawn in order; the first may come before the code that draws.
    let drawn = drawing.then((view) => view.begin());
    const listen = (event: RunEvent): void => {
      collect(run, event);
      drawn = drawn.then(async () => this.#draw(await drawing, event, run)).catch((error: unknown) => console.error(error));
      if (event.kind === "done") void drawn.then(() => this.#finish(run, end));
      else this.#follow(event);
    };
    const device = this.getAttribute("device") as DeviceName | null;
    run.id = this.#runtime().run({ source, files: this.files, device, isAutomatic }, listen);
    return ended;
  }

  async #openResults(): Promise<Results> {
    const { mountResults } = await import("./results");
    const view = mountResults({
      root: this.#root,
      scheme: this.#scheme(),
      goTo: (line) => this.#goTo(line),
      type: (line) => this.#runtime().type(line),
    });
    this.#view = view;
    this.#results.replaceWith(view.dom);
    return view;
  }

  #follow(event: RunEvent): void {
    if (event.kind === "loading") {
      this.#setState("loading");
      this.#progress.textContent = progressOf(event);
    } else if (event.kind === "running") this.#setState("running");
  }

  #draw(view: Results, event: RunEvent, run: Run): void {
    if (event.kind === "note") view.note(event.note);
    else if (event.kind === "finished") {
      this.#last = run;
      view.finished(event.record);
    } else if (event.kind === "tensors") view.tensors(event.tensors);
    else if (event.kind === "picture") view.picture(event.tensor, event.map);
    else if (event.kind === "trouble") view.trouble(event.message);
    this.#changed();
  }

  #finish(run: Run, end: (result: TensorWebResult) => void): void {
    this.#current = null;
    const { error, stopped } = run.result;
    this.#setState(error ? "failed" : stopped ? "stopped" : "done");
    end(run.result);
    this.#emit("tensorweb-result", run.result);
  }

  #setState(state: TensorWebState): void {
    const isBusy = BUSY.includes(state);
    this.#stop.hidden = !isBusy;
    this.#run.setAttribute("aria-disabled", String(isBusy));
    this.#box.setAttribute("aria-busy", String(isBusy));
    if (state !== "loading") this.#progress.textContent = "";
    if (state === this.#state) return;
    this.#state = state;
    this.dataset["state"] = state;
    this.#say(WORDS[state]);
    this.#emit("tensorweb-state", { state });
  }

  #say(words: string): void {
    this.#said.textContent = words;
  }

  #emit(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

const WORDS: Record<TensorWebState, string> = {
  idle: "",
  loading: "Loading Python",
  queued: "Waiting",
  running: "Running…",
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
};

/** ` 3.1 of 5.5 MB`, or the step without a size, unless the words before say it. */
function progressOf({ text, done, total }: { text: string; done: number; total: number }): string {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  return total > 0 && done < total ? ` ${megabytes(done)} of ${megabytes(total)} MB` : text === "Python" ? "" : ` · ${text}`;
}

/** The text of a program inside an element, without the indentation of the page's source. */
function programIn(element: HTMLElement): string {
  const script = element.querySelector("script, template, pre");
  const text = (script instanceof HTMLTemplateElement ? script.content.textContent : (script ?? element).textContent) ?? "";
  const lines = text.replace(/^[ \t]*\n/, "").trimEnd().split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const indent = indents.length ? Math.min(...indents) : 0;
  return lines.map((line) => line.slice(indent)).join("\n");
}

/** Put what happens to a run into its result. */
function collect({ result, isStopping }: Run, event: RunEvent): void {
  if (event.kind === "note" && event.note.note === "output") result.text = (result.text + event.note.text).slice(0, MOST_TEXT);
  if (event.kind === "finished") {
    result.seconds = event.record.seconds;
    result.stopped = event.record.stopped;
    result.error = errorOf(event.record);
  }
  if (event.kind === "tensors") result.tensors = event.tensors.map(tensorOf);
  // Where a program does not react to Stop, Python is restarted.
  if (event.kind === "trouble" && isStopping) result.stopped = true;
  else if (event.kind === "trouble") {
    result.error = { type: "Unavailable", message: event.message, line: null, traceback: event.message };
  }
}

function errorOf({ error }: Pick<RunRecord, "error">): TensorWebError | null {
  if (!error) return null;
  const frame = error.frames.findLast((frame) => "line" in frame);
  return { type: error.type, message: error.message, line: frame && "line" in frame ? frame.line : null, traceback: error.text };
}

function tensorOf({ name, shape, dtype, device, min, max, mean, nan, inf }: TensorRecord): TensorWebTensor {
  const numbers = { min: min ?? null, max: max ?? null, mean: mean ?? null, nan: nan ?? 0, inf: inf ?? 0 };
  return { name, shape, dtype, device, ...numbers };
}

// A page may load the script twice, from two addresses.
if (globalThis.customElements && !customElements.get("tensor-web")) customElements.define("tensor-web", TensorWeb);
