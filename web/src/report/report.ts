/** Draws a recorded run in a file of its own: what its lines made, tensors, kernels, memory, graph. */

import { hueOf, lineResults, type LineResults } from "../page/line-results";
import { media, schemeOf, watchMedia } from "../page/media";
import type { Details, RequestName, Value } from "../page/messages";
import type { Page } from "../page/page";
import { filesOf, MAIN } from "../page/program";
import type { TensorRecord } from "../page/protocol";
import type { Recording } from "../page/recording";
import type { Cell, Part, View } from "../page/view";
import { mountFilm } from "../panels/film/film";
import { mountKernels } from "../panels/kernels/kernels";
import { mountMemory } from "../panels/memory/memory";
import { mountModel } from "../panels/model/model";
import { cellText, pictureText } from "../panels/tensors/cell-text";
import { drawSmallCurve, isLine } from "../panels/tensors/curve";
import { flags, rangeOf, typeOf } from "../panels/tensors/facts";
import { decodeHeatmap, drawWhole } from "../panels/tensors/heatmap";
import { mountLayout } from "../panels/tensors/layout";
import type { Picture } from "../panels/tensors/picture";
import { wholeOf } from "../panels/tensors/whole";
import { mountTimeline } from "../panels/timeline/timeline";
import { mountWhy } from "../panels/why/why";
import { button, el, find } from "../parts/dom";
import { count, tuple } from "../parts/format";
import type { RunLine } from "../parts/line-link";
import "../../tokens.css";
import "../panels/tensors/tensors.css";
import "../parts/chart.css";
import "../parts/standalone.css";
import "./report.css";

/** One operation of the graph, or data. */
interface Step {
  /** `%2 = add(%0, %1)`. */
  text: string;
  shape: number[];
  dtype: string;
  line: number | null;
  /** The id of its tensor, if that has a picture. */
  tensor: number | null;
}

interface Report extends Recording {
  graph?: Step[];
}

const ROOM = { width: 320, height: 220 };
const SMALL = { width: 120, height: 80 };
/** Room between a card and what it belongs to. */
const GAP = 6;

const report = JSON.parse(find("#recording").textContent ?? "") as Report;
const { run, tensors, responses } = report;
const files = filesOf(report.source);
const origin = { run: 1, document: "report", title: "", source: report.source, device: "cpu" as const, python: 1 };
const view = {
  ...{ run, tensors, phase: "idle", state: "ready", held: false, typing: false, theme: "system", file: MAIN, python: 1, device: "cpu" },
  ...{ document: { id: "report" }, origins: { output: origin, run: origin, tensors: origin }, ...media() },
} as unknown as View;

/** What a response is about; a picture of the first slice has no indices. */
interface About {
  tensor?: number;
  kernel?: number;
  result?: number;
  index?: number[];
  indices?: number[];
  search?: boolean;
}

/** Return the recorded response about a tensor, its cell, a kernel or a line. */
function request<Q extends RequestName>(name: Q, details: Details<Q>): Promise<Value<Q>> {
  const asked = details as About;
  // The last two axes of a picture are drawn whole.
  const sliceOf = ({ indices = [] }: About): string => indices.slice(0, -2).filter(Boolean).join() && indices.slice(0, -2).join();
  const known = responses.find((one) => {
    const about = one.details as About;
    const isSame = one.name === name && about.tensor === asked.tensor && about.kernel === asked.kernel && about.result === asked.result;
    return isSame && about.index?.join() === asked.index?.join() && !about.search === !asked.search && sliceOf(about) === sliceOf(asked);
  });
  if (!known) return Promise.reject(new Error(name === "why" ? `The report explains ${count(explained, "cell")}, and this is none of them. ${CHOOSE}` : "This is not in the report."));
  return Promise.resolve(known.response as Value<Q>);
}

const CHOOSE = "In Python, tw.inspect(x, why=[(0, 1)]) chooses the cells.";
const explained = responses.filter(({ name }) => name === "why").length;

const lines = new Map<string, Map<number, HTMLElement>>();

function light(spans: readonly RunLine[], hue = ""): void {
  const lit = new Set(spans.map(({ line, file = MAIN }) => `${file}:${line}`));
  for (const [name, own] of lines) {
    for (const [line, node] of own) node.className = lit.has(`${name}:${line}`) ? `report-line is-lit ${hue}` : "report-line";
  }
}

function goToLine(line: number, file = MAIN): void {
  const node = lines.get(file)?.get(line);
  if (!node) return;
  node.tabIndex = -1;
  node.scrollIntoView({ block: "center" });
  node.focus({ preventScroll: true });
  light([{ line, file }]);
}

/** The parts of the page that panels use; nothing here runs a program. */
const page = {
  view,
  request,
  editor: { files: () => files },
  run: () => undefined,
  warn: () => undefined,
  change: () => undefined,
  show: (id: string) => document.getElementById(id)?.scrollIntoView({ block: "nearest" }),
  why: (cell: Cell) => parts.forEach((part) => part.why?.(cell)),
  goTo: (_: unknown, line: number, _column: number, file?: string) => goToLine(line, file),
  light: (_: unknown, line: number | null, file?: string) => light(line === null ? [] : [{ line, file }]),
  lightSpans: (spans: readonly RunLine[], hue: string) => light(spans, hue),
} as unknown as Page;

/** The page of panels that need a run in which everything was retained. */
const inside = { ...page, view: { ...view, run: { ...run, inside: true } } } as unknown as Page;
const parts: Part[] = [];

/** Short tensors of one axis are cells, which show their values. */
const LEAST_CURVE = 33;

function isCurve(tensor: TensorRecord): boolean {
  return isLine(tensor) && tensor.size >= LEAST_CURVE;
}

interface Drawn {
  canvas: HTMLCanvasElement;
  tensor: TensorRecord;
  picture: Picture;
  room: typeof ROOM;
}

let drawn: Drawn[] = [];

/** Draw a tensor's picture into a canvas; null if the report has none. */
async function draw(canvas: HTMLCanvasElement, tensor: TensorRecord, room: typeof ROOM): Promise<Drawn | null> {
  const map = await request("heatmap", wholeOf(tensor)).catch(() => null);
  if (!map || map.rows === 0) return null;
  const one = { canvas, tensor, picture: decodeHeatmap(map, tensor.dtype, schemeOf(view)), room };
  drawn.push(one);
  paint(one);
  return one;
}

function paint({ canvas, tensor, picture, room }: Drawn): void {
  (isCurve(tensor) ? drawSmallCurve : drawWhole)(canvas, picture, room);
  canvas.style.transform = "";
}

/** A tensor with its picture, whose cells say their values, and its layout. */
function tensorCard(tensor: TensorRecord): HTMLElement {
  const facts = el("p", { class: "saved-facts" }, [typeOf(tensor), rangeOf(tensor)].join(" · "), ...flags(tensor));
  const card = el("article", { class: "report-tensor", id: `tensor-${tensor.id}`, tabindex: -1 }, el("h3", {}, tensor.name), facts);
  const canvas = el("canvas", { class: "report-picture", tabindex: 0, role: "application" });
  const status = el("p", { class: "report-at", role: "status" });
  const fill = async (): Promise<void> => {
    const one = await draw(canvas, tensor, ROOM);
    if (!one) return;
    const { map } = one.picture;
    canvas.setAttribute("aria-label", `Picture of ${tensor.name}; arrow keys move from cell to cell`);
    const note = el("p", { class: "legend-note" }, pictureText(one.picture));
    card.append(canvas, status, note);
    const layout = mountLayout(page, (index) => say(...cellOf(index)));
    let at: [number, number] = [0, 0];
    const slice = wholeOf(tensor);
    const say = (row: number, column: number): void => {
      at = [Math.min(Math.max(row, 0), map.rows - 1), Math.min(Math.max(column, 0), map.columns - 1)];
      status.textContent = cellText(one.picture, slice, tensor, ...at);
    };
    const cellOf = (index: readonly number[]): [number, number] => {
      const on = (axis: number | null, block: number): number => (axis === null ? 0 : Math.floor((index[axis] ?? 0) / block));
      return [on(slice.rows, map.blockRows), on(slice.columns, map.blockColumns)];
    };
    const point = (row: number, column: number): void => {
      say(row, column);
      const [down, across] = [at[0] * map.blockRows, at[1] * map.blockColumns];
      layout.point(slice.indices.map((fixed, axis) => (axis === slice.rows ? down : axis === slice.columns ? across : fixed)));
    };
    canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
      const row = isCurve(tensor) ? 0 : Math.floor((offsetY / canvas.clientHeight) * map.rows);
      point(row, Math.floor((offsetX / canvas.clientWidth) * map.columns));
    });
    const why = (): void => {
      const [down, across] = [at[0] * map.blockRows, at[1] * map.blockColumns];
      page.why({ id: tensor.id, name: tensor.name, index: slice.indices.map((fixed, axis) => (axis === slice.rows ? down : axis === slice.columns ? across : fixed)) });
    };
    if (explained > 0) canvas.addEventListener("click", why);
    canvas.addEventListener("keydown", (event) => {
      if (explained > 0 && event.key === "w") why();
      const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      point(at[0] + move[0], at[1] + move[1]);
    });
    if (!responses.some(({ name, details }) => name === "storage" && (details as { tensor: number }).tensor === tensor.id)) return;
    layout.dom.hidden = false;
    const more = el("details", {}, el("summary", {}, "Layout"), layout.dom);
    more.addEventListener("toggle", () => void layout.show(tensor, one.picture.scale));
    card.append(more);
  };
  void fill();
  return card;
}

function goToTensor(id: number): void {
  const card = document.getElementById(`tensor-${id}`);
  card?.scrollIntoView({ block: "center" });
  card?.focus({ preventScroll: true });
}

const tip = el("div", { class: "report-tip", hidden: true });

/** Describe what a line made next to its text, with small pictures. */
function showTip(host: HTMLElement, made: readonly TensorRecord[]): void {
  tip.replaceChildren(
    ...made.map((tensor) => {
      const canvas = el("canvas", { "aria-hidden": "true" });
      void draw(canvas, tensor, SMALL).then((one) => one ?? canvas.remove());
      return el("div", {}, el("b", {}, tensor.name), el("span", {}, typeOf(tensor)), el("span", {}, rangeOf(tensor)), canvas);
    }),
  );
  const box = host.getBoundingClientRect();
  tip.hidden = made.length === 0;
  tip.style.top = `${scrollY + box.bottom + GAP}px`;
  const most = document.documentElement.clientWidth - tip.offsetWidth - GAP;
  tip.style.left = `${Math.max(GAP, Math.min(box.left, most))}px`;
}

function hideTip(): void {
  tip.hidden = true;
  tip.replaceChildren();
  // A picture that arrives after this leaves with the next one.
  drawn = drawn.filter(({ canvas }) => canvas.isConnected);
}

function ghost(made: LineResults): HTMLElement {
  const own = tensors.filter(({ lines: of }) => of.some((line) => made.results.includes(line)));
  const hue = made.kernels[0] === undefined ? "" : hueOf(made.kernels[0]);
  const [first] = own;
  const go = (): void => {
    if (first) goToTensor(first.id);
  };
  // Drawn by the style sheet: it is no text of the program, also for a copy of the lines.
  const node = button("", go, { class: `report-ghost ${hue} ${made.isBad ? "is-bad" : ""}`, "data-text": made.text, "aria-label": made.words });
  for (const event of ["pointerenter", "focus"]) node.addEventListener(event, () => showTip(node, own));
  for (const event of ["pointerleave", "blur"]) node.addEventListener(event, hideTip);
  return node;
}

/** Divide a program's text into lines, and add what each made. */
function annotate(code: HTMLElement, file: string, pointed: (line: number | null) => void): void {
  const made = new Map(lineResults(run, tensors, file).map((one) => [one.line, one]));
  const found = new Map<number, HTMLElement>();
  const pieces: Node[] = [];
  let line = el("span", { class: "report-line" });
  const end = (): void => {
    const number = found.size + 1;
    const results = made.get(number);
    line.addEventListener("pointerenter", () => pointed(number));
    line.addEventListener("pointerleave", () => pointed(null));
    found.set(number, line);
    pieces.push(line, ...(results ? [ghost(results)] : []));
    line = el("span", { class: "report-line" });
  };
  for (const node of [...code.childNodes]) {
    if (!(node instanceof Text)) {
      line.append(node);
      continue;
    }
    node.data.split("\n").forEach((text, index) => {
      if (index > 0) {
        end();
        pieces.push(new Text("\n"));
      }
      line.append(text);
    });
  }
  end();
  lines.set(file, found);
  code.replaceChildren(...pieces);
}

function section(title: string, host: HTMLElement): void {
  find("main").append(el("h2", {}, title), host);
}

/** Mount a panel of the page as a section. */
function mountPanel(id: string, title: string, mount: (host: HTMLElement, page: Page) => Part, of = page): void {
  const host = el("div", { class: "report-panel", id });
  section(title, host);
  const part = mount(host, of);
  parts.push({ ...part, update: () => part.update(of.view) });
}

function has(name: RequestName): boolean {
  return responses.some((one) => one.name === name);
}

function graphList(steps: readonly Step[]): HTMLElement {
  const items = steps.map(({ text, shape, dtype, line, tensor }) => {
    const name = tensor === null ? el("code", {}, text) : button(text, () => goToTensor(tensor), { class: "line-link" });
    const own = tensors.filter(({ id }) => id === tensor);
    for (const event of ["pointerenter", "focus"]) name.addEventListener(event, () => showTip(name, own));
    for (const event of ["pointerleave", "blur"]) name.addEventListener(event, hideTip);
    const where = line === null ? "" : button(`line ${line}`, () => goToLine(line), { class: "line-link" });
    return el("li", {}, name, el("span", {}, `${dtype} ${tuple(shape)}`), where);
  });
  return el("ol", { class: "report-graph" }, ...items);
}

function mount(): void {
  for (const code of document.querySelectorAll<HTMLElement>("[data-file] > code")) {
    const file = code.parentElement?.dataset["file"] ?? MAIN;
    annotate(code, file, (line) => {
      if (view.file !== file) {
        view.file = file;
        update();
      }
      parts.forEach((part) => part.linePointed?.(line, Infinity));
    });
  }
  if (tensors.length) section("Tensors", el("div", { class: "report-tensors" }, ...tensors.map(tensorCard)));
  if (has("why")) mountPanel("why", "Why?", mountWhy, inside);
  if (has("film")) mountPanel("film", "Film", mountFilm, inside);
  if (has("modules")) mountPanel("model", "Model", mountModel, inside);
  if (report.graph?.length) section("Graph", graphList(report.graph));
  if (run.kernels.length) {
    mountPanel("kernels", "Kernels", mountKernels);
    if (has("timeline")) mountPanel("timeline", "Timeline", mountTimeline);
    if (run.memory) mountPanel("memory", "Memory", mountMemory);
  }
  document.body.append(tip);
  const update = (): void => parts.forEach((part) => part.update(view));
  update();
  watchMedia((now) => {
    Object.assign(view, now);
    Object.assign(inside.view, now);
    for (const one of drawn) {
      one.picture = decodeHeatmap(one.picture.map, one.tensor.dtype, schemeOf(view));
      paint(one);
    }
    update();
  });
}

mount();
