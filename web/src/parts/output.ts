/** What the program printed and showed, and where it failed; always as plain text. */

import { button, el, perFrame } from "../dom";
import { count, duration } from "../format";
import type { Page, Part } from "../page";
import type { Failure, Frame, Note, RunRecord, TensorRecord } from "../protocol";
import { barChart } from "./bar-chart";
import { addThumbnails } from "./thumbnails";

type Output = Extract<Note, { note: "output" }>;
type Tail = Extract<Note, { note: "tail" }>;
type Display = Extract<Note, { note: "display" }>;

export function mountOutput(host: HTMLElement, page: Page): Part {
  const empty = el("p", { class: "empty" }, "Output appears here.");
  host.append(empty);
  let text: HTMLPreElement | null = null;
  let tail: HTMLElement | null = null;
  let waiting: Node[] = [];
  let follows = true;

  const flush = perFrame(() => {
    host.append(...waiting);
    waiting = [];
    if (follows) host.scrollTop = host.scrollHeight;
  });
  // New text does not scroll by itself, so this changes by the reader's hand only.
  host.addEventListener("scroll", () => {
    follows = host.scrollHeight - host.scrollTop - host.clientHeight < 40;
  });
  const add = (node: HTMLElement): void => {
    waiting.push(node);
    flush();
  };
  const write = ({ stream, text: more }: Output): void => {
    if (!text || text.dataset["stream"] !== stream) {
      text = el("pre", { class: "text", "data-stream": stream });
      add(text);
    }
    text.append(more);
    flush();
  };
  const writeTail = (note: Tail): void => {
    if (!tail) {
      tail = el("div", { class: "tail" });
      add(tail);
    }
    const left = note.omitted > 0 ? `… output truncated: ${count(note.omitted, "character")} left out …` : null;
    tail.replaceChildren(
      ...(left ? [el("p", { class: "cut" }, left)] : []),
      el("pre", { class: "text", "data-stream": note.stream }, note.text),
    );
    flush();
  };
  let pictured: readonly TensorRecord[] | null = null;
  return {
    dom: host,
    update: ({ tensors }) => {
      if (tensors === pictured) return;
      pictured = tensors;
      void addThumbnails(host, tensors, page.session);
    },
    begin: () => {
      waiting = [];
      follows = true;
      text = tail = null;
      host.replaceChildren();
    },
    note: (note) => {
      if (note.note === "output") write(note);
      else if (note.note === "tail") writeTail(note);
      else if (note.note === "display") {
        text = null;
        add(displayCard(note, page));
      }
    },
    finished: (record) => {
      text = null;
      if (record.error) add(failureCard(record.error, page));
      add(el("p", { class: "footer" }, footer(record)));
    },
    trouble: (message) => {
      text = null;
      empty.remove();
      add(el("p", { class: "trouble", role: "alert" }, message));
    },
    dispose: () => host.replaceChildren(),
  };
}

function footer(record: RunRecord): string {
  const time = duration(record.seconds);
  if (record.stopped) return `Stopped after ${time}`;
  return `${record.error ? "Failed after" : "Finished in"} ${time}`;
}

/** A text that is wider than its card scrolls, and then the keyboard must reach it. */
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});

function displayCard({ display, name, text, tensor, chart }: Display, page: Page): HTMLElement {
  if (chart) return el("div", { class: "display" }, barChart(chart));
  const label = { role: "region", "aria-label": `Value of ${name ?? "the display"} ${display + 1}` };
  const body = el("pre", { class: "text", ...label }, text);
  widths.observe(body);
  const card = el("div", { class: "display" }, body);
  if (tensor) {
    const look = { class: "display-name", title: "Look into this tensor" };
    card.prepend(button(name ?? "tensor", () => page.choose(display), look));
    card.dataset["display"] = String(display);
  } else if (name !== null) {
    card.prepend(el("span", { class: "display-name" }, name));
  }
  return card;
}

function failureCard(failure: Failure, page: Page): HTMLElement {
  const frames = failure.frames.map((frame) =>
    "skipped" in frame
      ? el("li", { class: "skipped" }, `… ${count(frame.skipped, "call")} left out …`)
      : el("li", {}, ...frameLine(frame, page)),
  );
  const hidden = failure.hidden > 0 ? ` (${count(failure.hidden, "frame")} inside libraries hidden)` : "";
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("p", { class: "failure-title" }, el("strong", {}, failure.type), failure.message ? ": " : "", failure.message),
    frames.length ? el("ol", { class: "frames" }, ...frames) : null,
    el(
      "details",
      {},
      el("summary", {}, `Full traceback${hidden}`),
      el("pre", { class: "text" }, failure.text),
    ),
  );
}

/** A link to the line and the line itself with the failing part marked. */
function frameLine(frame: Frame, page: Page): Node[] {
  const where = frame.function && frame.function !== "<module>" ? ` in ${frame.function}` : "";
  const link = button(
    `line ${frame.line}${where}`,
    () => page.editor?.goTo(frame.line, frame.column ?? 0),
    { class: "line-link" },
  );
  return [link, markedCode(frame)];
}

function markedCode({ code, column, endColumn, line, endLine, indent }: Frame): HTMLElement {
  if (column === null || endColumn === null) return el("code", {}, code);
  const start = Math.max(0, column - indent);
  const end = endLine === line ? Math.max(start, endColumn - indent) : code.length;
  return el("code", {}, code.slice(0, start), el("mark", {}, code.slice(start, end)), code.slice(end));
}
