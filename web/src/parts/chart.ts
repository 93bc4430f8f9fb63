/** Line, point and bar charts, with the values of the point under the pointer or cursor. */

import { el, perFrame } from "./dom";
import { count, short } from "./format";
import type { PlotRecord, PlotSeries } from "../page/protocol";
import "./chart.css";

export type ChartData = Pick<PlotRecord, "title" | "kind" | "series">;

/** A point of a chart: which series, and which value of it. */
export interface ChartPoint {
  series: number;
  index: number;
}

export interface Chart {
  dom: HTMLElement;
  draw(data: ChartData): void;
  /** Put the cursor on a point and the focus on the chart. */
  goTo(point: ChartPoint): void;
}

export interface ChartOptions {
  /** Fill the parent; else the chart has the parent's width and a fixed aspect ratio. */
  fills?: boolean;
  /** Describe a point; by default by its coordinates and those of points with the same x. */
  reading?(point: ChartPoint): string;
}

const WIDTH = 560;
const HEIGHT = 180;
const LEFT = 56;
const BELOW = 20;
const TOP = 8;
const RIGHT = 12;
/** The least distance between two grid lines, in pixels. */
const TICK_WIDTH = 56;
const TICK_HEIGHT = 34;
const COLOURS = 6;
/** Weight of vertical distances from the pointer, because charts are read along the x axis. */
const DOWN_WEIGHT = 0.15;
const SVG = "http://www.w3.org/2000/svg";

interface Range {
  low: number;
  high: number;
}

/** The mapping from a chart's values to its drawing. */
interface Frame {
  width: number;
  height: number;
  across: Range;
  ys: Range;
  left(x: number): number;
  top(y: number): number;
}

export function mountChart({ fills = false, reading }: ChartOptions = {}): Chart {
  const drawing = el("div", { class: "chart-drawing" });
  const readingText = el("p", { class: "chart-reading", role: "status" });
  const dom = el("div", { class: fills ? "chart fills" : "chart", role: "application", tabindex: 0 }, drawing, readingText);
  let data: ChartData | null = null;
  let frame: Frame | null = null;
  let point: ChartPoint | null = null;

  const redraw = (): void => {
    if (!data) return;
    const { clientWidth, clientHeight } = drawing;
    if (fills && clientWidth * clientHeight === 0) return;
    frame = frameOf(data, fills ? clientWidth : WIDTH, fills ? clientHeight : HEIGHT);
    drawing.replaceChildren(svgOf(data, frame));
    mark();
  };
  /** Draw the cursor and describe its point. */
  const mark = (): void => {
    drawing.querySelector(".chart-cursor")?.remove();
    const text = data && point ? (reading?.(point) ?? readingOf(data, point)) : "";
    if (readingText.textContent !== text) readingText.textContent = text;
    if (!data || !frame || !point) return;
    const cursor = cursorOf(data, frame, point);
    if (cursor) drawing.querySelector("svg")?.append(cursor);
  };
  const put = (next: ChartPoint | null): void => {
    point = next;
    mark();
  };
  drawing.addEventListener("pointermove", ({ clientX, clientY }) => {
    const box = drawing.querySelector("svg")?.getBoundingClientRect();
    if (!data || !frame || !box || box.width === 0) return;
    const scale = frame.width / box.width;
    put(nearest(data, frame, (clientX - box.left) * scale, (clientY - box.top) * scale));
  });
  drawing.addEventListener("pointerleave", () => {
    if (document.activeElement !== dom) put(null);
  });
  dom.addEventListener("blur", () => put(null));
  dom.addEventListener("keydown", (event) => {
    if (!data || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moved(data, point, event.key);
    if (!next) return;
    event.preventDefault();
    put(next);
  });
  if (fills) new ResizeObserver(perFrame(redraw)).observe(drawing);
  return {
    dom,
    draw: (next) => {
      data = next;
      if (point && next.series[point.series]?.y[point.index] === undefined) point = null;
      dom.setAttribute("aria-label", `${textOf(next)}; arrow keys read its values`);
      redraw();
    },
    goTo: (next) => {
      dom.focus();
      put(next);
    },
  };
}

/** The movement of the cursor along a series by a key. */
const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

/** The point that a key moves the cursor to, null if the key has no meaning here. */
function moved({ series }: ChartData, point: ChartPoint | null, key: string): ChartPoint | null {
  const [step, other] = [STEPS[key], { ArrowUp: -1, ArrowDown: 1 }[key]];
  if (step === undefined && other === undefined) return null;
  if (!point) return series[0]?.y.length ? { series: 0, index: 0 } : null;
  const within = (value: number, length: number): number => Math.min(Math.max(value, 0), length - 1);
  const which = within(point.series + (other ?? 0), series.length);
  return { series: which, index: within(point.index + (step ?? 0), series[which]?.y.length ?? 1) };
}

/** The point nearest to a position in the drawing. */
function nearest({ kind, series }: ChartData, { left, top, across }: Frame, x: number, y: number): ChartPoint | null {
  let [best, closest]: [number, ChartPoint | null] = [Infinity, null];
  const half = kind === "histogram" ? (left(across.high) - left(across.low)) / Math.max(series[0]?.x.length ?? 1, 1) / 2 : 0;
  series.forEach((one, which) => {
    one.y.forEach((value, index) => {
      const position = one.x[index];
      if (value === null || position === null || position === undefined) return;
      const distance = (left(position) + half - x) ** 2 + DOWN_WEIGHT * (top(value) - y) ** 2;
      if (distance < best) [best, closest] = [distance, { series: which, index }];
    });
  });
  return closest;
}

/** `120 · train 0.31 · test 0.35`: the first coordinate, and all values that have it. */
function readingOf({ kind, series }: ChartData, { series: which, index }: ChartPoint): string {
  const x = series[which]?.x[index];
  if (x === undefined) return "";
  const next = series[which]?.x[index + 1];
  const position = kind === "histogram" && next !== undefined ? `${short(x)} … ${short(next)}` : short(x);
  const values = series.flatMap(({ name, x: xs, y }, other) => {
    if (other !== which && (kind === "points" || xs[index] !== x)) return [];
    return [`${name ? `${name} ` : ""}${short(y[index] ?? NaN)}`];
  });
  return `${position}: ${values.join(" · ")}`;
}

function cursorOf({ kind, series }: ChartData, frame: Frame, { series: which, index }: ChartPoint): SVGElement | null {
  const x = series[which]?.x[index];
  if (x === null || x === undefined) return null;
  const group = svg("g", { class: "chart-cursor" });
  const half = kind === "histogram" ? barWidth(series[0], frame) / 2 : 0;
  const position = frame.left(x) + half;
  if (kind !== "points") group.append(svg("line", { x1: position, x2: position, y1: TOP, y2: frame.height - BELOW }));
  series.forEach(({ x: xs, y }, other) => {
    const value = y[index];
    if (value === null || value === undefined || (other !== which && (kind === "points" || xs[index] !== x))) return;
    group.append(svg("circle", { cx: position, cy: frame.top(value), r: 3.5, class: `series-${other % COLOURS}` }));
  });
  return group;
}

function frameOf({ kind, series }: ChartData, width: number, height: number): Frame {
  const isHistogram = kind === "histogram";
  const xs = rangeOf(series.flatMap(({ x }) => x));
  const ys = rangeOf([...series.flatMap(({ y }) => y), ...(isHistogram ? [0] : [])]);
  const step = isHistogram ? (xs.high - xs.low) / Math.max((series[0]?.x.length ?? 1) - 1, 1) : 0;
  const across: Range = { low: xs.low, high: xs.high + step };
  return {
    ...{ width, height, across, ys },
    left: (x) => LEFT + part(x, across) * (width - LEFT - RIGHT),
    top: (y) => height - BELOW - part(y, ys) * (height - BELOW - TOP),
  };
}

function svgOf(data: ChartData, frame: Frame): SVGSVGElement {
  const { width, height, left, top, across, ys } = frame;
  const node = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "img", "aria-label": textOf(data) });
  for (const y of ticksOf(ys, (height - BELOW - TOP) / TICK_HEIGHT)) {
    node.append(svg("line", { x1: LEFT, x2: width - RIGHT, y1: top(y), y2: top(y), class: "plot-grid" }));
    node.append(label(LEFT - 6, top(y) + 4, "end", short(y)));
  }
  for (const x of ticksOf(across, (width - LEFT - RIGHT) / TICK_WIDTH)) node.append(label(left(x), height - 5, "middle", short(x)));
  data.series.forEach((series, index) => {
    const shape = { lines: lineOf, points: pointsOf, histogram: barsOf }[data.kind];
    const style = data.kind === "lines" ? "plot-line" : "plot-area";
    node.append(svg("path", { d: shape(series, frame), class: `${style} series-${index % COLOURS}` }));
  });
  return node;
}

function lineOf(series: PlotSeries, { left, top }: Frame): string {
  const points = coordinatesOf(series);
  return points.map((position, index) => {
    if (!position) return "";
    const follows = index > 0 && points[index - 1] !== null;
    const isAlone = !follows && !points[index + 1];
    const at = `${left(position[0]).toFixed(1)} ${top(position[1]).toFixed(1)}`;
    // A value between two gaps is a dot.
    return `${follows ? "L" : "M"}${at}${isAlone ? "h0.1" : ""}`;
  }).join("");
}

function pointsOf(series: PlotSeries, { left, top }: Frame): string {
  return coordinatesOf(series).map((position) =>
    position ? `M${(left(position[0]) - 2).toFixed(1)} ${top(position[1]).toFixed(1)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0` : "",
  ).join("");
}

function barsOf(series: PlotSeries, frame: Frame): string {
  const ground = frame.top(0);
  const width = Math.max(barWidth(series, frame) - 1, 0.5);
  return coordinatesOf(series).map((position) => {
    if (!position) return "";
    return `M${frame.left(position[0]).toFixed(1)} ${ground}v${frame.top(position[1]) - ground}h${width}V${ground}z`;
  }).join("");
}

function barWidth(series: PlotSeries | undefined, { left, across }: Frame): number {
  return (left(across.high) - left(across.low)) / Math.max(series?.x.length ?? 1, 1);
}

function coordinatesOf({ x, y }: PlotSeries): (readonly [number, number] | null)[] {
  return y.map((value, index) => {
    const position = x[index];
    return value === null || position === null || position === undefined ? null : [position, value];
  });
}

function rangeOf(values: readonly (number | null)[]): Range {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { low: 0, high: 1 };
  if (low < high) return { low, high };
  const reach = Math.abs(low) * 0.1 || 0.5;
  return { low: low - reach, high: high + reach };
}

function part(value: number, { low, high }: Range): number {
  // The difference of two finite numbers may overflow; the difference of their halves does not.
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

/** Round numbers within a range, about `count` of them. */
function ticksOf({ low, high }: Range, count: number): number[] {
  const most = Math.max(Math.min(Math.floor(count), 10), 2);
  const power = 10 ** Math.floor(Math.log10((high - low) / most));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => (high - low) / size <= most) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.min(Math.floor(high / step + 1e-9), first + 2 * most);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function textOf({ title, kind, series }: ChartData): string {
  const points = series.reduce((sum, one) => sum + one.count, 0);
  const { low, high } = rangeOf(series.flatMap(({ y }) => y));
  return `${title || "Plot"}: ${kind} of ${count(points, "value")} from ${short(low)} to ${short(high)}`;
}

/** The legend of a chart; null if no series has a name. */
export function chartLegend({ series }: ChartData): HTMLElement | null {
  if (series.every(({ name }) => name === "")) return null;
  const items = series.map(({ name }, index) => el("li", { class: `series-${index % COLOURS}` }, name));
  return el("ul", { class: "plot-legend" }, ...items);
}

function label(x: number, y: number, anchor: string, text: string): SVGElement {
  const node = svg("text", { x, y, "text-anchor": anchor, class: "plot-tick" });
  node.textContent = text;
  return node;
}

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}
