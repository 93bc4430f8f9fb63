/** The kernels of the run as a table: line, computation, cost, source. */

import { button, el } from "../../parts/dom";
import { bytes, count, duration } from "../../parts/format";
import { focused } from "../../page/focus";
import { kernelSplits, splitLine } from "../../page/kernel-splits";
import type { Page } from "../../page/page";
import { hueOf, linesOf } from "../../page/line-results";
import { MAIN } from "../../page/program";
import type { KernelRecord, RunRecord, Span } from "../../page/protocol";
import { originNote, whyUnavailable } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import { lineLink, presentLine } from "../../parts/line-link";
import type { KernelEditor } from "./edit-kernel";
import { mountSource, presentSpans, type SourceView } from "./source";
import "./kernels.css";
import type { Part, View } from "../../page/view";

/** By device: its name for people, its kernel language, its unit of work. */
interface Device {
  name: string;
  language: string;
  work(grid: readonly number[]): string;
}

const DEVICES: Readonly<Record<string, Device>> = {
  webgpu: { name: "WebGPU", language: "wgsl", work: (grid) => `${grid.join(" × ")} workgroups` },
  cpu: { name: "CPU", language: "wasm", work: units },
};

/** The same text as `units` in `tensorweb/backends/wasm.py`. */
function units([all = 1, together = all]: readonly number[]): string {
  const text = count(all, "unit");
  return all > together ? `${text}, ${together.toLocaleString("en-US")} at a time` : text;
}

/** The quantity of the bars: seconds if measured, else bytes read and written. */
interface Cost {
  of(kernel: KernelRecord): number;
  text(cost: number): string;
  words: string;
}

const TIME: Cost = { of: ({ seconds = 0 }) => seconds, text: duration, words: "time on the device" };
const TRAFFIC: Cost = {
  of: ({ loaded, stored, count: launches }) => (loaded + stored) * launches,
  text: bytes,
  words: "bytes that they read and write",
};

/** Names of the operators in formulas. */
const SIGNS = "x, y, z … are its inputs, x[…] elements that are read from several positions of one, c a constant, i an index";

export function mountKernels(host: HTMLElement, page: Page): Part {
  const totals = el("p", {});
  let isAsked = false;
  const time = (): void => {
    isAsked = page.run(null, { timed: true });
  };
  const measure = button("Measure times", time, {
    class: "quiet",
    title: "Run the program once more, and wait after each kernel for its time",
  });
  const order = button("", () => sort(!isSorted), { class: "quiet" });
  const why = button("Why not fused?", () => explain(!isExplained), {
    class: "quiet",
    "aria-pressed": "false",
    title: "Say at each kernel which values others wrote for it, and why one kernel does not do both",
  });
  const summary = el("div", { class: "kernel-summary" }, totals, el("span", { class: "kernel-actions" }, why, order, measure));
  const list = el("ol", { class: "kernel-list" });
  const empty = el("p", { class: "empty" }, "Kernels that the device runs appear here, each with its source.");
  host.append(summary, empty, list);
  let drawn: RunRecord | null = null;
  let rows: KernelRow[] = [];
  let isSorted = false;
  let isTimed = false;
  /** Whether the threads of the captured kernel are stepped at once. */
  let isStepping = false;
  const edit = (index: number, isStepped: boolean): void => {
    const reason = whyUnavailable(page.view, "run", "kernel", "text");
    if (reason !== null) page.warn(reason);
    else isStepping = page.run(null, { capture: index }) && isStepped;
  };
  let open: { kernel: KernelRecord; editor: KernelEditor } | null = null;
  /** Texts that the reader changed before a later run, by kernel. */
  const drafts = new Map<string, string>();
  const openEditor = async (chosen: KernelRow): Promise<void> => {
    const { kernel } = chosen;
    const editor = await chosen.openEditor(drafts.get(keyOf(kernel)));
    if (!editor) return;
    if (!rows.includes(chosen)) return editor.destroy();
    drafts.delete(keyOf(kernel));
    open = { kernel, editor };
    if (isStepping) editor.step();
    isStepping = false;
  };
  const closeEditor = (): void => {
    if (open?.editor.isChanged()) drafts.set(keyOf(open.kernel), open.editor.text());
    open?.editor.destroy();
    open = null;
  };
  const offerDrafts = (): void => {
    for (const key of drafts.keys()) {
      const chosen = rows.find(({ kernel }) => keyOf(kernel) === key);
      if (chosen) chosen.offerDraft();
      else if (drafts.delete(key)) page.notify({ kind: "info", text: "The text of a kernel that you edited is discarded: the last run has no such kernel." });
    }
  };
  const sort = (value: boolean): void => {
    isSorted = value;
    order.textContent = isSorted ? "Program order" : isTimed ? "Slowest first" : "Largest first";
    order.title = isSorted ? "List the kernels as they ran first" : "List the longest bars first";
    const shown = isSorted ? [...rows].sort((one, other) => other.cost - one.cost) : rows;
    list.replaceChildren(...shown.map((each) => each.node));
  };
  let isExplained = false;
  const explain = (value: boolean): void => {
    isExplained = value;
    why.setAttribute("aria-pressed", String(value));
    for (const { splits } of rows) splits.replaceChildren();
    if (value) void showSplits(rows);
  };
  const showSplits = async (shown: readonly KernelRow[]): Promise<void> => {
    try {
      const found = await kernelSplits(page);
      if (rows !== shown || !isExplained) return;
      for (const split of found) shown[split.reader]?.splits.append(splitLine(split));
      if (!found.length) page.warn("No kernel of this run reads what another one wrote.");
    } catch (error) {
      explain(false);
      page.warn(messageOf(error));
    }
  };
  /** The rows of each line of the visible file, and the lines that the reader points at. */
  let byLine = new Map<number, KernelRow[]>();
  let pointed: number | null = null;
  let column = 0;
  let cursor = 1;
  const light = (): void => {
    const lit = new Set(byLine.get(pointed ?? cursor) ?? []);
    for (const each of rows) {
      each.node.classList.toggle("is-lit", lit.has(each));
      each.source()?.light(pointed ?? cursor, pointed === null ? null : column);
      if (lit.has(each)) each.node.setAttribute("aria-current", "true");
      else each.node.removeAttribute("aria-current");
    }
  };
  let text: string | null = null;
  /** Update the line number of each row after an edit of the text. */
  const follow = ({ origins: { run }, document, typing, file }: View): void => {
    const now = run?.document === document.id ? [file, ...page.editor.files().map(({ text }) => text)].join("\0") : null;
    if (typing || now === text) return;
    text = now;
    byLine = new Map();
    const known = new Map<number, number | null>();
    const present = (line: number): number | null => {
      if (!known.has(line)) known.set(line, presentLine(page, { line, file }));
      return known.get(line) ?? null;
    };
    for (const each of rows) {
      const { kernel, moved } = each;
      each.source()?.moved();
      if (kernel.line !== null) moved(presentLine(page, { line: kernel.line, file: kernel.file }));
      for (const line of linesOf(kernel, file)) {
        const here = present(line);
        if (here !== null && now !== null) byLine.set(here, [...(byLine.get(here) ?? []), each]);
      }
    }
    light();
  };
  const redraw = (run: RunRecord | null): void => {
    closeEditor();
    const kernels = run?.kernels ?? [];
    const launches = kernels.reduce((sum, kernel) => sum + kernel.count, 0);
    isTimed = kernels.some(({ seconds }) => seconds !== undefined);
    if (isAsked && kernels.length > 0 && !isTimed) page.warn("This browser does not measure how long kernels take.");
    isAsked = false;
    const cost = isTimed ? TIME : TRAFFIC;
    const costs = kernels.map((kernel) => cost.of(kernel));
    const most = Math.max(...costs, 0);
    empty.hidden = kernels.length > 0;
    summary.hidden = kernels.length === 0;
    const left = run?.kernelsLeftOut ?? 0;
    const all = `${count(kernels.length, "kernel")}, ${count(launches, "launch", "launches")}`;
    const cut = left ? `; ${kernels.length} of ${kernels.length + left} kernels are listed` : "";
    const total = cost.text(costs.reduce((sum, one) => sum + one, 0));
    totals.textContent = `${all}${cut}. Bars are ${cost.words}, ${total} together.`;
    rows = kernels.map((kernel, index) => {
      const spent = costs[index] ?? 0;
      return row(page, kernel, index, spent, costBar(cost.text(spent), spent / (most || 1)), edit, light);
    });
    text = null;
    sort(isSorted);
    const seen = page.view.focus?.kernel;
    const details = seen && kernels[seen.kernel]?.name === seen.name ? rows[seen.kernel]?.node.querySelector("details") : null;
    if (details) details.open = true;
    explain(false);
    offerDrafts();
    if (run?.captured === undefined) return;
    const chosen = run.captured === null ? undefined : rows[run.captured];
    if (chosen) void openEditor(chosen);
    else page.warn("The kernel’s launch was not captured: the program did not run it again, or its buffers exceed 256 MB.");
  };
  return {
    update: (view) => {
      measure.disabled = view.state === "running" || view.held;
      if (view.run !== drawn || !drawn) {
        drawn = view.run;
        redraw(view.run);
      }
      follow(view);
    },
    cursorMoved: (line) => {
      if (line === cursor) return;
      cursor = line;
      light();
    },
    linePointed: (line, at) => {
      pointed = line;
      column = at;
      light();
    },
    originNote: (view) => (view.run?.kernels.length ? originNote(view, "run") : null),
  };
}

function costBar(text: string, part: number): HTMLElement {
  const bar = el("span", { class: "kernel-bar", "aria-hidden": "true" }, el("span", {}));
  (bar.firstElementChild as HTMLElement).style.width = `${Math.max(2, 100 * part)}%`;
  return el("span", { class: "kernel-cost" }, bar, el("span", {}, text));
}

/** The computation and the size of a kernel, from a name such as `reduce sum [4, 3]`. */
export function computed({ name, kind, formula, copies }: KernelRecord): string {
  const bare = name.startsWith(`${kind} `) ? name.slice(kind.length + 1) : name;
  const end = bare.lastIndexOf(" [");
  const work = formula || (end < 0 ? bare : bare.slice(0, end));
  return `${work}${copies ? ", with a copy" : ""}${end < 0 ? "" : bare.slice(end)}`;
}

/** Names a kernel across runs. */
function keyOf({ name, grid }: KernelRecord): string {
  return [name, ...grid].join();
}

/** Capture a kernel, to edit its text or to step its threads. */
type Edit = (index: number, isStepped: boolean) => void;

/** A row of the table; `moved` updates the current index of its line, null for none. */
interface KernelRow {
  kernel: KernelRecord;
  cost: number;
  node: HTMLElement;
  /** What other kernels wrote for it. */
  splits: HTMLElement;
  moved(line: number | null): void;
  /** Its text, once it is shown. */
  source(): SourceView | null;
  /** Let the reader edit the text of the kernel, which the run has captured. */
  openEditor(draft: string | undefined): Promise<KernelEditor | null>;
  /** Tell the reader that an edited text is kept. */
  offerDraft(): void;
}

function row(page: Page, kernel: KernelRecord, index: number, cost: number, bar: HTMLElement, edit: Edit, relight: () => void): KernelRow {
  const { link, moved } = lineOf(page, kernel);
  const hue = hueOf(index);
  const label = el("span", { class: "kernel-label" }, el("span", { class: "kernel-number", title: `Kernel ${index + 1}` }, `k${index + 1}`), link);
  const { dom, ...rest } = details(page, kernel, index, bar, edit, () => {
    page.lightSpans(kernelSpans(page, kernel), hue);
    relight();
  });
  const splits = el("div", { class: "kernel-splits" });
  const node = el("li", { class: `kernel-row ${hue}` }, splits, label, dom);
  const light = (isOn: boolean) => (): void => page.lightSpans(isOn ? kernelSpans(page, kernel) : [], hue);
  for (const event of ["pointerenter", "focusin"]) node.addEventListener(event, light(true));
  for (const event of ["pointerleave", "focusout"]) node.addEventListener(event, light(false));
  return { kernel, cost, node, splits, moved, ...rest };
}

/** The lines and the expressions that a kernel computes, where they are in the present text. */
function kernelSpans(page: Page, kernel: KernelRecord): Span[] {
  // The line of its result comes first: the editor scrolls to it.
  const { line, file, spans = [] } = kernel;
  const lines = [...(line === null ? [] : [{ line, file }]), ...spans];
  const whole = lines.map(({ line, file = MAIN }) => ({ line, endLine: line, column: null, endColumn: null, file }));
  return presentSpans(page, [...whole, ...spans]);
}

/** A link to the line that built the kernel's result. */
function lineOf(page: Page, { line, file = MAIN, launches = [] }: KernelRecord): { link: HTMLElement; moved: KernelRow["moved"] } {
  if (line === null) return { link: el("span", { class: "kernel-line" }, "–"), moved: () => undefined };
  const link = lineLink(page, { line, file }, false);
  const name = file === MAIN ? "" : `${file}, `;
  link.classList.add("kernel-line");
  link.classList.toggle("is-long", name !== "" || launches.length > 1);
  const moved = (present: number | null): void => {
    const more = launches.length > 1 ? ` +${launches.length - 1}` : "";
    link.textContent = name + (present === null ? `was ${line}` : `line ${present}`) + more;
    link.title = present === null ? "This line is not in the program any more." : "";
    link.classList.toggle("is-gone", present === null);
  };
  return { link, moved };
}

function details(page: Page, kernel: KernelRecord, index: number, cost: HTMLElement, edit: Edit, light: () => void): { dom: HTMLElement } & Pick<KernelRow, "openEditor" | "offerDraft" | "source"> {
  const device = DEVICES[kernel.device];
  const facts = [
    kernel.kind,
    device?.name,
    device?.work(kernel.grid),
    count(kernel.buffers, "buffer"),
    kernel.bytes ? bytes(kernel.bytes) : "",
  ].filter(Boolean);
  const launches = kernel.launches ?? [];
  // Lines of later iterations of a long run are unknown.
  const isComplete = launches.reduce((sum, one) => sum + one.count, 0) === kernel.count;
  const forLines = launches.flatMap((one) => [" · ", lineLink(page, one), isComplete ? ` ${one.count.toLocaleString("en-US")} ×` : ""]);
  const source = el("pre", { class: "kernel-source", tabindex: 0, role: "region", "aria-label": `Source of ${kernel.name}` });
  const isWgsl = device?.language === "wgsl";
  const start = isWgsl ? button("Edit", () => edit(index, false), { class: "quiet", title: "Run the program once more, keep what this kernel reads, and edit its text" }) : null;
  const step = isWgsl ? button("Step threads", () => edit(index, true), { class: "quiet", title: "Run the program once more, and show what each thread of a workgroup reads and writes" }) : null;
  const stages = button("Stages", () => void showStages(), { class: "quiet", title: "Show how the nodes of its flush became kernels, step by step" });
  const showStages = async (): Promise<void> => {
    const reason = whyUnavailable(page.view, "run", "kernel", "stages");
    if (reason !== null) return page.warn(reason);
    try {
      const [{ mountStages }, found] = await Promise.all([import("./stages"), page.request("stages", { kernel: index })]);
      const shown = mountStages(page, found);
      stages.remove();
      buffers.before(shown);
      shown.querySelector("input")?.focus();
    } catch (error) {
      page.warn(messageOf(error));
    }
  };
  const buffers = el("ul", { class: "kernel-buffers", "aria-label": `Buffers of ${kernel.name}` });
  const times = `${kernel.count.toLocaleString("en-US")} ×`;
  const node = el(
    "details",
    { class: "kernel" },
    el("summary", {}, el("strong", { title: kernel.formula && SIGNS }, computed(kernel)), cost, el("span", { class: "kernel-count" }, times)),
    el("p", { class: "kernel-facts" }, facts.join(" · "), ...forLines, " ", start, " ", step, " ", stages),
    buffers,
    source,
  );
  let view: SourceView | null = null;
  let loading: Promise<void> | null = null;
  const show = async (): Promise<void> => {
    const reason = loading ? null : whyUnavailable(page.view, "run", "kernel", "source");
    if (reason === null) await (loading ??= load());
    else source.textContent = reason;
  };
  const load = async (): Promise<void> => {
    try {
      const found = await page.request("source", { kernel: index });
      view = mountSource(page, found, { source, buffers, language: device?.language ?? "", hue: hueOf(index), leave: light });
    } catch (error) {
      loading = null;
      source.textContent = messageOf(error);
    }
  };
  node.addEventListener("toggle", () => {
    if (node.open) void show();
    const { focus } = page.view;
    const isThis = focus?.kernel?.kernel === index;
    if (node.open !== isThis) page.change({ focus: focused(focus, { kernel: node.open ? { kernel: index, name: kernel.name } : null }) });
  });
  const openEditor = async (draft: string | undefined): Promise<KernelEditor | null> => {
    node.open = true;
    await show();
    if (!view) return null;
    const { mountKernelEditor } = await import("./edit-kernel");
    const editor = mountKernelEditor(page, source.textContent ?? "", draft);
    source.replaceWith(editor.dom);
    start?.remove();
    step?.remove();
    editor.dom.scrollIntoView({ block: "nearest" });
    // The focus was on “Edit”, which the run has removed, unless the reader went on.
    if (document.activeElement === document.body) editor.focus();
    return editor;
  };
  const offerDraft = (): void => {
    if (start) start.textContent = "Continue editing";
  };
  return { dom: node, openEditor, offerDraft, source: () => view };
}
