/** Plots that the program showed: lines, points or bars, each drawn anew in its place. */

import { el } from "../../parts/dom";
import { count, short } from "../../parts/format";
import type { PlotRecord, PlotSeries } from "../../page/protocol";
import "./plots.css";

export interface Plots {
  /** Draw a plot into its card; the card when it is a new one. */
  draw(plot: PlotRecord): HTMLElement | null;
  begin(): void;
}

const WIDTH = 560;
const HEIGHT = 180;
const LEFT = 56;
const BELOW = 20;
const TOP = 8;
const RIGHT = 12;
const TICKS = 5;
const COLOURS = 6;
const SVG = "http://www.w3.org/2000/svg";

interface Range {
  low: number;
  high: number;
}

export function mountPlots(): Plots {
  let cards = new Map<number, HTMLElement>();
  return {
    draw: (plot) => {
      const known = cards.get(plot.display);
      const card = known ?? el("div", { class: "display plot-card" });
      card.replaceChildren(...parts(plot));
      cards.set(plot.display, card);
      return known ? null : card;
    },
    begin: () => {
      cards = new Map();
    },
  };
}

function parts(plot: PlotRecord): Node[] {
  const { title, series } = plot;
  const isNamed = series.some(({ name }) => name !== "");
  const legend = series.map(({ name }, index) => el("li", { class: `series-${index % COLOURS}` }, name));
  return [
    ...(title ? [el("span", { class: "display-name" }, title)] : []),
    drawing(plot),
    ...(isNamed ? [el("ul", { class: "plot-legend" }, ...legend)] : []),
  ];
}

function drawing(plot: PlotRecord): SVGSVGElement {
  const isHistogram = plot.kind === "histogram";
  const xs = rangeOf(plot.series.flatMap(({ x }) => x));
  const ys = rangeOf([...plot.series.flatMap(({ y }) => y), ...(isHistogram ? [0] : [])]);
  const step = isHistogram ? (xs.high - xs.low) / Math.max((plot.series[0]?.x.length ?? 1) - 1, 1) : 0;
  const across: Range = { low: xs.low, high: xs.high + step };
  const left = (x: number): number => LEFT + part(x, across) * (WIDTH - LEFT - RIGHT);
  const top = (y: number): number => HEIGHT - BELOW - part(y, ys) * (HEIGHT - BELOW - TOP);
  const node = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", "aria-label": textOf(plot, ys) });
  for (const y of ticksOf(ys)) {
    node.append(svg("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: top(y), y2: top(y), class: "plot-grid" }));
    node.append(label(LEFT - 6, top(y) + 4, "end", short(y)));
  }
  for (const x of ticksOf(across)) node.append(label(left(x), HEIGHT - 5, "middle", short(x)));
  plot.series.forEach((series, index) => {
    const shape = { lines: lineOf, points: pointsOf, histogram: barsOf(left(across.low + step) - left(across.low), top(0)) }[plot.kind];
    const style = plot.kind === "lines" ? "plot-line" : "plot-area";
    node.append(svg("path", { d: shape(series, left, top), class: `${style} series-${index % COLOURS}` }));
  });
  return node;
}

type Across = (value: number) => number;

function lineOf(series: PlotSeries, left: Across, top: Across): string {
  let isDown = false;
  return placesOf(series).map((place) => {
    const command = place ? `${isDown ? "L" : "M"}${left(place[0]).toFixed(1)} ${top(place[1]).toFixed(1)}` : "";
    isDown = place !== null;
    return command;
  }).join("");
}

function pointsOf(series: PlotSeries, left: Across, top: Across): string {
  return placesOf(series).map((place) =>
    place ? `M${(left(place[0]) - 2).toFixed(1)} ${top(place[1]).toFixed(1)}a2 2 0 1 0 4 0a2 2 0 1 0 -4 0` : "",
  ).join("");
}

function barsOf(width: number, ground: number): (series: PlotSeries, left: Across, top: Across) => string {
  return (series, left, top) =>
    placesOf(series).map((place) => {
      if (!place) return "";
      const height = ground - top(place[1]);
      return `M${left(place[0]).toFixed(1)} ${ground}v${-height}h${Math.max(width - 1, 0.5)}v${height}z`;
    }).join("");
}

function placesOf({ x, y }: PlotSeries): (readonly [number, number] | null)[] {
  return y.map((value, index) => {
    const place = x[index];
    return value === null || place === null || place === undefined ? null : [place, value];
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
  return low === high ? { low: low - 0.5, high: high + 0.5 } : { low, high };
}

function part(value: number, { low, high }: Range): number {
  return (value - low) / (high - low);
}

/** Round numbers within a range. */
function ticksOf({ low, high }: Range): number[] {
  const power = 10 ** Math.floor(Math.log10((high - low) / TICKS));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => (high - low) / size <= TICKS) ?? 10 * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.min(Math.floor(high / step + 1e-9), first + 2 * TICKS);
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => Number(((first + index) * step).toPrecision(12)));
}

function textOf({ title, kind, series }: PlotRecord, { low, high }: Range): string {
  const points = series.reduce((sum, one) => sum + one.count, 0);
  return `${title || "Plot"}: ${kind} of ${count(points, "value")} from ${short(low)} to ${short(high)}`;
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
