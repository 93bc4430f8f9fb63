/** Device memory over the kernels of a run: a block for each buffer, and the peak's lines. */

import { button, el } from "../../parts/dom";
import { bytes, count, duration, tuple } from "../../parts/format";
import { lineLink, presentLine } from "../../parts/line-link";
import { schemeOf } from "../../page/media";
import { focused, type Focus } from "../../page/focus";
import type { Page } from "../../page/page";
import { MAIN } from "../../page/program";
import type { DeviceMemory, MemoryBlock, MemoryRecord, RunRecord } from "../../page/protocol";
import { originNote, retainedNote, whyUnavailable } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import type { Part } from "../../page/view";
import { mountPicture, type Cursor } from "./picture";
import { lineShares, sourceAt, valueAt, type LineShare } from "./stack";
import "./memory.css";

const DEVICES: Readonly<Record<string, string>> = { webgpu: "WebGPU", cpu: "the CPU" };
const EMPTY = "The device memory of a run appears here: a block for each buffer, in the colour of the line that made it.";
const OFFER = "The buffers of a run are recorded while this panel is open: press Run, or";
const HINT = "Point at a block, or move by the arrow keys; a click or Enter goes to its line.";
/** Lines of the list; the others are summed up. */
const MOST_LINES = 8;

export function mountMemory(host: HTMLElement, page: Page): Part {
  const empty = el("p", { class: "empty" }, EMPTY);
  const choice = el("select", { class: "memory-device", "aria-label": "Device" });
  const summary = el("p", {});
  const head = el("div", { class: "memory-summary" }, summary, choice);
  const reading = el("p", { class: "memory-reading", role: "status" });
  const list = el("ol", { class: "memory-lines", "aria-label": "Lines that hold memory at the peak" });
  const note = el("p", { class: "memory-note" });
  let record: MemoryRecord | null = null;
  let drawn: RunRecord | null = null;
  let scheme = "";
  let isAsked = false;
  /** What is selected, as links carry it. */
  let shared: Focus["memory"] = null;

  const shown = (): DeviceMemory | null => record?.devices[choice.selectedIndex] ?? record?.devices[0] ?? null;
  const picture = mountPicture({
    point: (cursor) => {
      const memory = shown();
      const source = sourceUnder(memory, cursor);
      page.light(page.view.origins.run, source && presentLine(page, source), source?.file);
      reading.textContent = (memory && record && readingOf(memory, record, cursor)) || HINT;
    },
    select: (cursor) => {
      const memory = shown();
      shared = cursor && memory && { device: memory.device, ...cursor };
      page.change({ focus: focused(page.view.focus, { memory: shared }) });
    },
    choose: (cursor) => {
      const source = sourceUnder(shown(), cursor);
      if (!source) return;
      const line = presentLine(page, source);
      if (line === null) page.warn(`The line ${source.line} that ran is not in the program any more.`);
      else page.goTo(page.view.origins.run, line, 0, source.file);
    },
  });
  const body = el("div", { class: "memory-body", hidden: true }, head, picture.dom, reading, list, note);
  const start = button("Record memory", () => page.run(null, { memory: true }), { class: "quiet", title: "Run the program once more, and record its buffers" });
  const offer = el("p", { class: "empty", hidden: true }, OFFER, " ", start);
  host.append(empty, offer, body);

  const redraw = (): void => {
    const memory = shown();
    const isThere = memory !== null && memory.blocks.length > 0;
    body.hidden = !isThere;
    offer.hidden = !drawn || drawn.memory === true || drawn.kernels.length === 0;
    empty.hidden = isThere || !offer.hidden;
    if (!memory || !record || !isThere) return;
    reading.textContent = HINT;
    summary.replaceChildren(...sentence(page, memory, record));
    const shares = lineShares(memory);
    list.replaceChildren(...shares.filter(({ bytes: size }) => size > 0).slice(0, MOST_LINES).map((share) => lineOf(page, share, memory.peak)));
    note.textContent = [retainedNote(drawn), ...notesOf(memory, record)].filter(Boolean).join(" ");
    const linked = page.view.focus?.memory ?? null;
    const isOfLink = linked !== null && linked !== shared;
    picture.draw(memory, record.kernels, isOfLink && linked.step <= record.kernels ? linked : null);
    // What was selected in a run before is none of this one.
    if (linked && !isOfLink) page.change({ focus: focused(page.view.focus, { memory: null }) });
  };
  const show = (next: MemoryRecord | null, text: string): void => {
    record = next;
    empty.textContent = text;
    const devices = [...(next?.devices ?? [])].map(({ device }) => device);
    choice.replaceChildren(...devices.map((device) => el("option", { value: device }, DEVICES[device] ?? device)));
    choice.hidden = devices.length < 2;
    const peaks = next?.devices.map(({ peak }) => peak) ?? [];
    const linked = devices.indexOf(page.view.focus?.memory?.device ?? "");
    choice.selectedIndex = linked < 0 ? peaks.indexOf(Math.max(...peaks)) : linked;
    redraw();
  };
  choice.addEventListener("change", redraw);
  const ask = async (run: RunRecord): Promise<void> => {
    if (!run.memory) return show(null, EMPTY);
    const reason = whyUnavailable(page.view, "run", "run", "memory");
    if (reason !== null) return show(null, reason);
    try {
      const found = await page.request("memory", {});
      if (run === drawn) show(found, found.devices.length ? EMPTY : "This run used no device memory.");
    } catch (error) {
      if (run === drawn) show(null, messageOf(error));
    }
  };
  return {
    update: (view) => {
      const now = schemeOf(view);
      start.disabled = view.state === "running" || view.held;
      if (view.run !== drawn) {
        drawn = view.run;
        isAsked = false;
        if (!drawn) show(null, EMPTY);
      }
      // The names of tensors are known when they have been described.
      if (drawn && !isAsked && view.phase === "idle" && view.state !== "running") {
        isAsked = true;
        void ask(drawn);
      } else if (now !== scheme) picture.redraw();
      scheme = now;
    },
    originNote: (view) => (view.run ? originNote(view, "run") : null),
  };
}

function sourceUnder(memory: DeviceMemory | null, cursor: Cursor | null): LineShare["source"] {
  const block = cursor?.block == null ? null : memory?.blocks[cursor.block];
  return block && cursor ? sourceAt(block, cursor.step) : null;
}

/** The peak, and the lines that hold most of it. */
function sentence(page: Page, memory: DeviceMemory, { kernels }: MemoryRecord): (Node | string)[] {
  const where = memory.step < kernels ? `at kernel ${memory.step + 1} of ${kernels.toLocaleString("en-US")}` : "after the last kernel";
  const parts: (Node | string)[] = [el("strong", {}, `Peak ${bytes(memory.peak)}`), ` on ${DEVICES[memory.device] ?? memory.device}, ${where}`];
  const most = lineShares(memory).filter(({ source, bytes: size }) => source && size > 0).slice(0, 3);
  most.forEach(({ source, bytes: size }, index) => {
    if (!source) return;
    parts.push(index ? ", " : ": ", lineLink(page, source), ` holds ${bytes(size)}`);
  });
  return [...parts, "."];
}

function lineOf(page: Page, { source, bytes: size, blocks, colour }: LineShare, peak: number): HTMLElement {
  const name = source ? lineLink(page, source) : el("span", {}, "no line of the program");
  const bar = el("span", { class: "memory-bar", "aria-hidden": "true" }, el("span", {}));
  (bar.firstElementChild as HTMLElement).style.width = `${Math.max(1, (100 * size) / (peak || 1))}%`;
  const chip = el("span", { class: "memory-chip", "aria-hidden": "true" });
  const facts = el("span", { class: "memory-share" }, `${bytes(size)} in ${count(blocks, "buffer")}`);
  return el("li", { class: `memory-line ${colour === null ? "is-other" : `series-${colour}`}` }, chip, name, bar, facts);
}

/** What is under the cursor, in one line of text. */
function readingOf(memory: DeviceMemory, { kernels }: MemoryRecord, cursor: Cursor | null): string {
  if (!cursor) return "";
  const { step } = cursor;
  const where = step < kernels ? `kernel ${step + 1}` : "after the last kernel";
  const block = cursor.block === null ? undefined : memory.blocks[cursor.block];
  if (!block) return where;
  const value = valueAt(block, step);
  const source = sourceAt(block, step);
  const made = value ? `${value.op || "scratch"} ${value.dtype ? `${value.dtype} ${tuple(value.shape)}` : ""}`.trim() : "values inside calls of a function under jit";
  const line = source ? `${source.file === MAIN ? "" : `${source.file}, `}line ${source.line}` : "";
  const names = block.names.join(", ");
  return [line, names, made, bytes(block.bytes), lifetime(block, kernels), freed(block)].filter(Boolean).join(" · ");
}

function lifetime({ begin, end, seconds }: MemoryBlock, kernels: number): string {
  const last = end ?? kernels;
  const span = last <= begin ? `before kernel ${begin + 1}` : last === begin + 1 ? `kernel ${last}` : `kernels ${begin + 1} to ${last}`;
  return `${span}, ${duration(seconds)}`;
}

function freed({ end, isInner, freedLine, use }: MemoryBlock): string {
  if (end === null) return "alive at the end";
  if (isInner) return "freed at the end of its flush";
  if (freedLine !== null) return `freed when line ${freedLine} dropped the last reference`;
  return use === "jit" ? "freed with its function" : "freed when nothing needed it any more";
}

function notesOf(memory: DeviceMemory, { unlisted, flushes }: MemoryRecord): string[] {
  const notes = ["A block is a buffer, with all views of it; where it is pale it belongs to its flush and contains nothing that is needed."];
  notes.push(`${bytes(memory.allocated)} were allocated at most, with free buffers that later flushes reuse.`);
  if (memory.memory !== null) notes.push(`WebAssembly’s memory has ${bytes(memory.memory)}.`);
  if (memory.before > 0) notes.push(`${bytes(memory.before)} are of earlier runs (the grey ground).`);
  const listed = memory.atPeak.reduce((sum, index) => sum + (memory.blocks[index]?.bytes ?? 0), memory.before);
  if (memory.peak > listed) notes.push(`${bytes(memory.peak - listed)} of the peak are not listed.`);
  if (unlisted) notes.push(`${unlisted.toLocaleString("en-US")} of ${count(flushes, "flush", "flushes")} are not drawn; none of them needs more memory than the peak.`);
  return notes;
}
