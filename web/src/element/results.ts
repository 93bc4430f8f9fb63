/** Draws what a run of an element printed and showed; loaded with the first run. */

import { bytesOf } from "./base64";
import { MAIN } from "../page/program";
import type { Note } from "../page/messages";
import type { Display, Failure, Frame, Heatmap, LivePicture, PlotRecord, RunRecord, TensorRecord } from "../page/protocol";
import type { Scheme } from "../page/media";
import { barChart } from "../panels/output/bar-chart";
import { markedCode } from "../panels/output/marked-code";
import { promptField, focusField } from "../panels/output/prompt";
import { htmlFrame } from "../panels/output/rich";
import { PrintedText } from "../panels/output/printed-text";
import { verdictView } from "../panels/output/verdict";
import { widths } from "../panels/output/widths";
import { drawSmallCurve, isLine } from "../panels/tensors/curve";
import { flags, rangeOf, typeOf } from "../panels/tensors/facts";
import { decodeHeatmap, drawWhole } from "../panels/tensors/heatmap";
import { chartLegend, mountChart, type Chart } from "../parts/chart";
import { button, el, perFrame } from "../parts/dom";
import { count, duration } from "../parts/format";
import { adopt } from "./sheets";
import ansi from "../panels/output/ansi.css";
import barStyles from "../panels/output/bar-chart.css";
import outputStyles from "../panels/output/output.css";
import promptStyles from "../panels/output/prompt.css";
import richStyles from "../panels/output/rich.css";
import verdictStyles from "../panels/output/verdict.css";
import chartStyles from "../parts/chart.css";

/** Cards of one run; the runtime sends fewer. */
const MOST_CARDS = 250;
const MOST_NAMED = 60;
/** Tensors of fewer elements show their digits and no picture. */
const LEAST_ELEMENTS = 16;
const LARGE = { width: 300, height: 150 };
const SMALL = { width: 180, height: 70 };

type Finished = Pick<RunRecord, "seconds" | "stopped" | "error">;
type Drawn = Pick<TensorRecord, "shape" | "size" | "dtype">;

export interface Results {
  dom: HTMLElement;
  begin(): void;
  note(note: Note): void;
  finished(record: Finished): void;
  tensors(tensors: readonly TensorRecord[]): void;
  picture(tensor: number, map: Heatmap): void;
  trouble(message: string): void;
  /** Draw the pictures again, in other colours. */
  recolour(scheme: Scheme): void;
  /** Whether the program has been edited since. */
  age(isStale: boolean): void;
}

export interface ResultsOptions {
  root: ShadowRoot;
  scheme: Scheme;
  goTo(line: number): void;
  type(line: string): void;
}

export function mountResults({ root, scheme: first, goTo, type }: ResultsOptions): Results {
  adopt(root, ansi, outputStyles, barStyles, richStyles, verdictStyles, promptStyles, chartStyles);
  const content = el("div", { class: "output-content" });
  const dom = el("div", { class: "results", role: "group", "aria-label": "Output", tabindex: 0 }, content);
  let scheme = first;
  let field: HTMLFormElement | null = null;
  let footer: { line: HTMLElement; record: Finished } | null = null;
  let waiting: Node[] = [];
  let cards = 0;
  /** By display: its card; by tensor: every host of its picture. */
  let shown = new Map<number, { card: HTMLElement; name: string }>();
  let plots = new Map<number, { chart: Chart; legend: HTMLElement; title: HTMLElement }>();
  let hosts = new Map<number, { host: HTMLElement; tensor: TensorRecord; room: typeof LARGE }[]>();
  let drawn = new Map<HTMLElement, () => void>();

  const flush = perFrame(() => {
    content.append(...waiting);
    waiting = [];
    text.draw();
  });
  const add = (node: HTMLElement): void => {
    waiting.push(node);
    flush();
  };
  let text = new PrintedText(add);
  const draw = (host: HTMLElement, map: Heatmap, tensor: Drawn & { name?: string }, space: typeof LARGE): void => {
    const label = `Picture of ${tensor.name || "the tensor"}, ${typeOf({ ...tensor, device: "" } as TensorRecord)}`;
    const canvas = host.querySelector("canvas") ?? host.appendChild(el("canvas", { role: "img", "aria-label": label }));
    const again = (): void => {
      const picture = decodeHeatmap(map, tensor.dtype, scheme);
      (isLine(tensor) ? drawSmallCurve : drawWhole)(canvas, picture, space);
      canvas.style.transform = "";
    };
    drawn.set(host, again);
    again();
  };
  const tensorCard = ({ display, name, text: digits, facts }: Display): HTMLElement => {
    const head = el("div", { class: "display-facts" }, el("span", { class: "display-name" }, name ?? "tensor"), el("span", {}, facts), el("span", { class: "display-range" }));
    const card = el("div", { class: "display tensor-card" }, head, digits ? valueText(digits, `Value of ${name ?? "the tensor"}`) : null);
    shown.set(display, { card, name: name ?? "" });
    return card;
  };
  const live = ({ display, step, dtype, shape, heatmap }: LivePicture): void => {
    const { card, name } = shown.get(display) ?? {};
    if (!card) return;
    if (step > 1) card.querySelector(".display-range")?.replaceChildren(`shown ${step.toLocaleString("en-US")} times`);
    const size = shape.reduce((product, length) => product * length, 1);
    if (heatmap.rows > 0) draw(card, heatmap, { name, dtype, shape, size }, LARGE);
  };
  const plot = (record: PlotRecord): void => {
    const known = plots.get(record.display);
    const card = known ?? { chart: mountChart(), legend: el("div"), title: el("p", { class: "display-name" }) };
    plots.set(record.display, card);
    card.title.textContent = record.title;
    card.title.hidden = record.title === "";
    card.chart.draw(record);
    card.legend.replaceChildren(chartLegend(record) ?? "");
    if (known || ++cards > MOST_CARDS) return;
    text.close();
    add(el("div", { class: "display" }, card.title, card.chart.dom, card.legend));
  };
  const named = (tensors: readonly TensorRecord[]): void => {
    const others = tensors.filter(({ displays }) => displays.length === 0).slice(0, MOST_NAMED);
    if (others.length === 0) return;
    const items = others.map((tensor) => {
      const host = el("li", {}, el("strong", {}, tensor.name), el("span", { class: "fact" }, typeOf(tensor)), el("span", { class: "fact" }, rangeOf(tensor), ...flags({ ...tensor, problem: undefined })));
      hosts.set(tensor.id, [...(hosts.get(tensor.id) ?? []), { host, tensor, room: SMALL }]);
      return host;
    });
    const rest = tensors.length - others.length;
    const summary = `${rest ? "More tensors" : "Tensors"} of the program: ${others.length}`;
    add(el("details", { class: "named" }, el("summary", {}, summary), el("ul", {}, ...items)));
  };
  const describe = (isStale: boolean): void => {
    if (!footer) return;
    const { line, record } = footer;
    const time = duration(record.seconds);
    const outcome = record.stopped ? "Stopped after" : record.error ? "Failed after" : "Finished in";
    line.textContent = `${outcome} ${time}${isStale ? " · edited since" : ""}`;
    dom.toggleAttribute("data-stale", isStale);
  };
  return {
    dom,
    begin: () => {
      [footer, field] = [null, null];
      waiting = [];
      text = new PrintedText(add);
      cards = 0;
      [shown, plots, hosts, drawn] = [new Map(), new Map(), new Map(), new Map()];
      content.replaceChildren();
      dom.removeAttribute("data-stale");
    },
    note: (note) => {
      if (note.note === "output") {
        text.write(note.stream, note.text);
        flush();
      } else if (note.note === "tail") {
        text.writeTail(note);
        flush();
      } else if (note.note === "picture") live(note);
      else if (note.note === "plot") plot(note);
      else if (note.note === "prompt") {
        text.close();
        field?.remove();
        const asked = promptField(note.text, (line) => {
          asked.remove();
          type(line);
        });
        field = asked;
        add(asked);
        requestAnimationFrame(() => focusField(asked));
      } else if (note.note === "display" && ++cards <= MOST_CARDS) {
        text.close();
        add(note.tensor ? tensorCard(note) : displayCard(note));
      }
    },
    finished: (record) => {
      field?.remove();
      text.close();
      if (record.error) add(failureCard(record.error, goTo));
      footer = { line: el("p", { class: "footer" }), record };
      describe(false);
      add(footer.line);
    },
    tensors: (tensors) => {
      flush();
      for (const tensor of tensors) {
        for (const display of tensor.displays) {
          const card = shown.get(display)?.card;
          if (!card) continue;
          card.querySelector(".display-range")?.replaceChildren(rangeOf(tensor), ...flags({ ...tensor, problem: undefined }));
          if (tensor.size >= LEAST_ELEMENTS) hosts.set(tensor.id, [...(hosts.get(tensor.id) ?? []), { host: card, tensor, room: LARGE }]);
        }
      }
      named(tensors);
    },
    picture: (id, map) => {
      for (const { host, tensor, room: space } of hosts.get(id) ?? []) draw(host, map, tensor, space);
    },
    trouble: (message) => {
      text.close();
      field?.remove();
      add(el("p", { class: "trouble", role: "alert" }, message));
    },
    recolour: (now) => {
      scheme = now;
      for (const again of drawn.values()) again();
    },
    age: describe,
  };
}

function displayCard({ display, name, text, chart, rich }: Display): HTMLElement {
  const title = name ?? `display ${display + 1}`;
  const head = name === null ? null : el("span", { class: "display-name" }, name);
  if (chart) return el("div", { class: "display" }, barChart(chart));
  if (!rich || rich.kind === "text") return el("div", { class: "display" }, head, valueText(rich?.data ?? text, `Value of ${title}`));
  if (rich.kind === "verdict") return el("div", { class: "display" }, head, verdictView(rich.data));
  // A page's policy may forbid pictures in addresses, but not on a canvas.
  if (rich.kind === "png" || rich.kind === "jpeg") return el("div", { class: "display" }, head, photo(rich.data, rich.kind, title));
  return el("div", { class: "display" }, head, htmlFrame(rich.data, `${rich.kind === "svg" ? "Drawing" : "HTML"} of ${title}`));
}

function valueText(text: string, label: string): HTMLElement {
  const body = el("pre", { class: "text", role: "group", "aria-label": label }, text);
  widths.observe(body);
  return body;
}

function photo(data: string, kind: string, title: string): HTMLElement {
  const canvas = el("canvas", { class: "photo", role: "img", "aria-label": `Picture of ${title}` });
  const load = async (): Promise<void> => {
    const picture = await createImageBitmap(new Blob([bytesOf(data)], { type: `image/${kind}` }));
    canvas.width = picture.width;
    canvas.height = picture.height;
    canvas.getContext("2d")?.drawImage(picture, 0, 0);
    picture.close();
  };
  load().catch(() => canvas.replaceWith(el("p", { class: "cut" }, `The picture of ${title} is damaged.`)));
  return canvas;
}

function failureCard({ type, message, frames, text, hidden }: Failure, goTo: (line: number) => void): HTMLElement {
  const lines = frames.map((frame) =>
    "skipped" in frame ? el("li", { class: "skipped" }, `… ${count(frame.skipped, "call")} left out …`) : el("li", {}, ...frameLine(frame, goTo)),
  );
  const rest = hidden > 0 ? ` (${count(hidden, "frame")} inside libraries hidden)` : "";
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("p", { class: "failure-title" }, el("strong", {}, type), message ? ": " : "", message),
    lines.length ? el("ol", { class: "frames" }, ...lines) : null,
    el("details", {}, el("summary", {}, `Full traceback${rest}`), el("pre", { class: "text" }, text)),
  );
}

function frameLine(frame: Frame, goTo: (line: number) => void): Node[] {
  const where = frame.function && frame.function !== "<module>" ? ` in ${frame.function}` : "";
  const label = `${frame.file === MAIN ? "" : `${frame.file}, `}line ${frame.line}${where}`;
  return [button(label, () => goTo(frame.line), { class: "line-link" }), markedCode(frame)];
}
