/** Where the time of a run went: lanes over time, sums of a range, and the costliest fault. */

import { hueOf } from "../../page/line-results";
import { focused } from "../../page/focus";
import { schemeOf } from "../../page/media";
import type { Page } from "../../page/page";
import { MAIN } from "../../page/program";
import type { DeviceRates, KernelRecord, RunRecord, TimelineRecord } from "../../page/protocol";
import { originNote, retainedNote, whyUnavailable } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import type { Part } from "../../page/view";
import { button, el } from "../../parts/dom";
import { bytes, count, duration } from "../../parts/format";
import { lineLink, presentLine } from "../../parts/line-link";
import { computed } from "../kernels/kernels";
import { barsOf, LANES, speedsOf, sumsOf, type Bar, type Range, type Sums } from "./bars";
import { mountPicture } from "./picture";
import { storedRates, storeRates } from "./rates";
import "./timeline.css";

const EMPTY = "The time of a run appears here: Python, planning, encoding, kernels and reads.";
const HINT = "Drag over a range with a mouse or a pen, or hold Shift with the arrow keys, for its sums; a click, a second tap or Enter goes to a bar’s line.";
const MOST_KERNELS = 12;

export function mountTimeline(host: HTMLElement, page: Page): Part {
  const empty = el("p", { class: "empty" }, EMPTY);
  const finding = el("p", { class: "timeline-finding" });
  const about = el("span", {});
  const measure = button("Measure times", () => page.run(null, { timed: true }), {
    class: "quiet",
    title: "Run the program once more, wait after each flush for its times, and measure this adapter, in some tenths of a second",
  });
  const whole = button("Show all", () => picture.zoom(false), { class: "quiet" });
  const closer = button("Zoom to range", () => picture.zoom(true), { class: "quiet" });
  const head = el("div", { class: "timeline-head" }, about, el("span", { class: "timeline-actions" }, closer, whole, measure));
  const reading = el("p", { class: "timeline-reading", role: "status" });
  const sums = el("dl", { class: "timeline-sums", "aria-label": "Sums of the range" });
  const list = el("ol", { class: "timeline-kernels", "aria-label": "Kernels of the range" });
  const note = el("p", { class: "timeline-head" });
  let drawn: RunRecord | null = null;
  let record: TimelineRecord | null = null;
  let rates: DeviceRates | null = null;
  let bars: Bar[] = [];
  let speeds = new Map<number, number>();
  let range: Range | null = null;
  let pointed: Bar | null = null;
  /** The time that is drawn, and the range as links carry it. */
  let length = 1;
  let shared: Range | null = null;
  let scheme = "";
  let isRequested = false;
  /** Why the adapter could not be measured. */
  let unmeasured = "";

  /** A kernel's bytes and operations in a second, as shares of what the adapter does. */
  const shareOf = (index: number, seconds: number): string => {
    const kernel = kernels()[index];
    if (!rates || !kernel || kernel.device !== deviceOf(record) || !(seconds > 0)) return "";
    const moved = (kernel.loaded + kernel.stored) / seconds / rates.bandwidth;
    return `${percent(moved)} of bandwidth, ${percent((speeds.get(index) ?? 0) / rates.flops)} of FLOP/s`;
  };
  const kernels = (): readonly KernelRecord[] => drawn?.kernels ?? [];
  const goTo = ({ line, file }: { line: number | null; file: string }): void => {
    if (line === null) return;
    const now = presentLine(page, { line, file });
    if (now === null) page.warn(`The line ${line} that ran is not in the program any more.`);
    else page.goTo(page.view.origins.run, now, 0, file);
  };
  const picture = mountPicture({
    point: (bar) => {
      const line = bar && bar.line !== null ? presentLine(page, { line: bar.line, file: bar.file }) : null;
      page.light(page.view.origins.run, line, bar?.file);
      reading.textContent = bar ? readingOf(bar, kernels(), shareOf) : HINT;
      pointed = bar;
      closer.disabled = !range && !pointed;
      for (const row of list.children) row.classList.toggle("is-lit", bar !== null && (row as HTMLElement).dataset.kernel === String(bar.kernel));
    },
    select: (next, isDragged) => {
      range = next;
      drawSums();
      if (isDragged) return;
      shared = next && { from: next.from / length, to: Math.min(next.to / length, 1) };
      page.change({ focus: focused(page.view.focus, { range: shared }) });
    },
    choose: goTo,
  });
  const body = el("div", { hidden: true }, finding, head, picture.dom, reading, sums, list, note);
  host.append(empty, body);

  const drawSums = (): void => {
    if (!record) return;
    const part = range ?? { from: 0, to: record.seconds };
    const found = sumsOf(bars, part);
    const length = part.to - part.from;
    closer.disabled = !range && !pointed;
    about.textContent = range ? `${duration(length)} of ${duration(record.seconds)}` : `${duration(length)} in all`;
    const isBound = bars.some(({ known }) => known === "most");
    sums.replaceChildren(...LANES.map(({ lane, label, words }) => {
      const seconds = found.lanes[lane];
      const text = `${lane === "device" && isBound ? "at most " : ""}${duration(seconds)} (${Math.round((100 * seconds) / (length || 1))} %)`;
      return el("div", { title: words }, el("dt", {}, label), el("dd", {}, text));
    }));
    list.replaceChildren(...rowsOf(found));
    note.textContent = [retainedNote(drawn), ...notesOf(record, rates, bars), unmeasured].filter(Boolean).join(" ");
  };
  const rowsOf = (found: Sums): HTMLElement[] => {
    const costly = [...found.kernels].sort(([, one], [, other]) => other.seconds - one.seconds).slice(0, MOST_KERNELS);
    return costly.flatMap(([index, { seconds, launches, isMeasured }]) => {
      const kernel = kernels()[index];
      if (!kernel) return [];
      const number = button(`k${index + 1}`, () => {
        goTo({ line: kernel.line, file: kernel.file ?? MAIN });
        page.show("kernels");
      }, { class: "timeline-number", title: "Show it among the kernels" });
      const line = kernel.line === null ? el("span", {}) : lineLink(page, { line: kernel.line, file: kernel.file });
      const cost = [duration(seconds), `${Math.max(Math.round(launches), 1).toLocaleString("en-US")} ×`, isMeasured ? shareOf(index, seconds / launches) : ""];
      const row = el("li", { class: `timeline-kernel ${hueOf(index)}` }, number, line, el("code", {}, computed(kernel)), el("span", { class: "timeline-cost" }, cost.filter(Boolean).join(" · ")));
      row.dataset.kernel = String(index);
      return [row];
    });
  };
  const show = (next: TimelineRecord | null, text: string): void => {
    record = next;
    empty.textContent = text;
    body.hidden = next === null;
    empty.hidden = next !== null;
    if (!next) return;
    rates = storedRates(next.adapter);
    unmeasured = "";
    range = pointed = null;
    bars = barsOf(next, kernels());
    speeds = speedsOf(next, kernels());
    finding.replaceChildren(...sentence(page, next));
    reading.textContent = HINT;
    measure.hidden = next.flushes.length === 0;
    drawSums();
    // There may be more bars than a call takes arguments.
    length = next.unlisted ? bars.reduce((most, { end }) => Math.max(most, end), 0) : next.seconds;
    picture.draw(bars, length);
    // A range of a run before is none of this one.
    const linked = page.view.focus?.range ?? null;
    const isOfLink = linked !== null && linked !== shared;
    if (linked) picture.select(isOfLink ? { from: linked.from * length, to: linked.to * length } : null);
  };
  /** Measure what the adapter does in a second. */
  const measureRates = async (run: RunRecord, timed: TimelineRecord): Promise<void> => {
    const device = deviceOf(timed);
    if (device !== "cpu" && device !== "webgpu") return;
    try {
      const found = await page.request("rates", { device });
      storeRates({ ...found, adapter: timed.adapter });
      if (run === drawn) rates = found;
    } catch (error) {
      if (run === drawn) unmeasured = `${timed.adapter} could not be measured: ${messageOf(error)}`;
    }
    if (run === drawn) drawSums();
  };
  const ask = async (run: RunRecord): Promise<void> => {
    host.dataset["view"] = "loading";
    const reason = whyUnavailable(page.view, "run", "run", "timeline");
    if (reason !== null) return show(null, reason);
    try {
      const found = await page.request("timeline", {});
      if (run !== drawn) return;
      show(found, EMPTY);
      host.dataset["view"] = "ready";
      const isTimed = found.flushes.some(({ seconds }) => seconds.length);
      if (isTimed) await measureRates(run, found);
    } catch (error) {
      if (run === drawn) show(null, messageOf(error));
    }
  };
  return {
    update: (view) => {
      const now = schemeOf(view);
      measure.disabled = view.state === "running" || view.held;
      if (view.run !== drawn) {
        drawn = view.run;
        isRequested = false;
        if (!drawn) show(null, EMPTY);
      }
      if (drawn && !isRequested && view.phase === "idle" && view.state !== "running") {
        isRequested = true;
        void ask(drawn);
      } else if (now !== scheme) picture.redraw();
      scheme = now;
    },
    originNote: (view) => (view.run ? originNote(view, "run") : null),
  };
}

/** The device that the record's adapter belongs to, and so its rates. */
function deviceOf(record: TimelineRecord | null): string | undefined {
  return record?.plans.at(-1)?.device;
}

/** The costliest avoidable thing, with a link to its line. */
function sentence(page: Page, { finding }: TimelineRecord): (Node | string)[] {
  if (!finding) return ["Nothing costly that an edit would avoid was found in this run."];
  const { text, file, line } = finding;
  const parts = text.split("`").flatMap((part, index): (Node | string)[] => {
    if (index % 2) return [el("code", {}, part)];
    const [before = "", ...after] = line === null ? [part] : part.split(`line ${line} `);
    return line !== null && after.length ? [before, lineLink(page, { line, file }), " ", after.join(`line ${line} `)] : [part];
  });
  return [el("strong", {}, ...parts)];
}

function percent(share: number): string {
  const part = 100 * share;
  return `${part > 0 && part < 1 ? part.toFixed(1) : Math.round(part)} %`;
}

/** What is under the cursor, in one line of text. */
function readingOf({ lane, begin, end, kernel, launches, line, file, known }: Bar, kernels: readonly KernelRecord[], shareOf: (index: number, seconds: number) => string): string {
  const own = kernel === null ? undefined : kernels[kernel];
  const parts = [LANES.find((one) => one.lane === lane)?.label ?? ""];
  if (own) parts.push(`k${(kernel ?? 0) + 1} ${computed(own)}`);
  if (launches > 1) parts.push(count(launches, "launch", "launches"));
  parts.push(`${known === "most" ? "at most " : ""}${duration(end - begin)} from ${duration(begin)}`);
  if (line !== null) parts.push(`${file === MAIN ? "" : `${file}, `}line ${line}`);
  if (kernel !== null && known === "measured") parts.push(shareOf(kernel, (end - begin) / launches));
  if (own && known === "shared") parts.push("a share of its flush by bytes");
  return parts.filter(Boolean).join(" · ");
}

function notesOf({ unlisted, flushes, adapter }: TimelineRecord, rates: DeviceRates | null, bars: readonly Bar[]): string[] {
  const notes: string[] = [];
  if (rates) notes.push(`${adapter} moves ${bytes(rates.bandwidth)} and computes ${(rates.flops / 1e9).toPrecision(3)} GFLOP in a second, by a copy and by multiply-adds.`);
  if (bars.some(({ known }) => known === "most")) notes.push("What is pale was submitted, and done at the latest at its end; Measure times shows the kernels.");
  if (bars.some(({ known }) => known === "shared")) notes.push("The time of a flush is shared out to its kernels by bytes until times are measured.");
  if (unlisted) notes.push(`${count(unlisted, "flush", "flushes")} after the first ${flushes.length.toLocaleString("en-US")} are not shown.`);
  return notes;
}
