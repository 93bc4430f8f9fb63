/** Displays other than tensors, for the large pane: plots, charts, pictures, HTML. */

import { chartLegend, mountChart } from "../../parts/chart";
import { el } from "../../parts/dom";
import { count } from "../../parts/format";
import type { Note } from "../../page/messages";
import type { BarChart, Display, PlotRecord, Rich } from "../../page/protocol";
import { barChart } from "../output/bar-chart";
import { richView } from "../output/rich";

export interface Exhibit {
  display: number;
  name: string;
  /** A short label. */
  kind: string;
  value: PlotRecord | BarChart | Rich;
}

const KINDS: Record<Rich["kind"], string> = {
  ...{ html: "HTML", svg: "drawing", png: "picture", jpeg: "picture", text: "text", verdict: "puzzle" },
};

/** Limit of retained exhibits, since pictures are large. */
const MOST_EXHIBITS = 40;

export interface Exhibits {
  begin(): void;
  /** Add the exhibit of a message; null if it has none. */
  take(note: Note): { exhibit: Exhibit; isNew: boolean } | null;
  /** The newest first. */
  all(): readonly Exhibit[];
  get(display: number): Exhibit | null;
}

export function mountExhibits(): Exhibits {
  let exhibits = new Map<number, Exhibit>();
  return {
    begin: () => {
      exhibits = new Map();
    },
    take: (note) => {
      const exhibit = exhibitOf(note);
      if (!exhibit) return null;
      const isNew = !exhibits.has(exhibit.display);
      exhibits.set(exhibit.display, exhibit);
      const [oldest] = exhibits.keys();
      if (exhibits.size > MOST_EXHIBITS && oldest !== undefined) exhibits.delete(oldest);
      return { exhibit, isNew };
    },
    all: () => [...exhibits.values()].reverse(),
    get: (display) => exhibits.get(display) ?? null,
  };
}

/** Text values are shown by the output panel. */
function exhibitOf(note: Note): Exhibit | null {
  if (note.note === "plot") {
    const kind = { lines: "plot", points: "points", histogram: "histogram" }[note.kind];
    return { display: note.display, name: note.title || kind, kind, value: note };
  }
  if (note.note !== "display") return null;
  const { display, chart, rich } = note;
  if (chart) return { display, name: chart.heading || "chart", kind: count(chart.bars.length, "bar"), value: chart };
  if (!rich || rich.kind === "text") return null;
  return { display, name: nameOf(note, rich), kind: KINDS[rich.kind], value: rich };
}

function nameOf({ name, display }: Display, { kind }: Rich): string {
  return name ?? `${kind === "html" ? "HTML" : "figure"} ${display + 1}`;
}

/** The large pane of one exhibit. */
export interface Stage {
  dom: HTMLElement;
  show(exhibit: Exhibit): void;
  clear(): void;
}

export function mountStage(): Stage {
  const title = el("h2", { class: "stage-title" });
  const about = el("span", { class: "stage-facts" });
  const room = el("div", { class: "stage-room" });
  const legend = el("div", { class: "stage-legend" });
  const name = el("div", { class: "viewer-name" }, title, about);
  const dom = el("div", { class: "stage", hidden: true }, el("div", { class: "viewer-head" }, name), room, legend);
  const chart = mountChart({ fills: true });
  let shown: Exhibit["value"] | null = null;
  return {
    dom,
    show: ({ name, kind, value }) => {
      if (value === shown) return;
      shown = value;
      title.textContent = name;
      about.textContent = kind === name ? "" : kind;
      const isPlot = "series" in value;
      legend.replaceChildren((isPlot && chartLegend(value)) || "");
      if (isPlot) chart.draw(value);
      const inside = isPlot ? chart.dom : "bars" in value ? barChart({ ...value, heading: "" }) : richView(value, name);
      if (inside.parentNode !== room) room.replaceChildren(inside);
      room.classList.toggle("scrolls", !isPlot);
    },
    clear: () => {
      shown = null;
      room.replaceChildren();
      dom.hidden = true;
    },
  };
}

/** A small picture of an exhibit. */
export function faceOf({ value }: Exhibit): HTMLElement | SVGElement {
  if ("series" in value) {
    const chart = mountChart();
    chart.draw(value);
    const [drawing] = chart.dom.getElementsByTagName("svg");
    if (drawing) {
      drawing.querySelectorAll("text, .plot-grid").forEach((node) => node.remove());
      drawing.setAttribute("viewBox", "56 0 492 168");
      drawing.setAttribute("preserveAspectRatio", "none");
      drawing.setAttribute("aria-hidden", "true");
      drawing.removeAttribute("aria-label");
      drawing.setAttribute("class", "thumb face-plot");
      return drawing;
    }
  }
  if ("bars" in value) {
    const bars = value.bars.slice(0, 8).map(({ length, marked }) => {
      const bar = el("i", { class: marked ? "marked" : null });
      bar.style.width = `${Math.max(length * 100, 3)}%`;
      return bar;
    });
    return el("span", { class: "face-bars", "aria-hidden": "true" }, ...bars);
  }
  if ("kind" in value && (value.kind === "png" || value.kind === "jpeg" || value.kind === "svg")) {
    const picture = richView(value, "");
    picture.setAttribute("alt", "");
    picture.className = "thumb face-picture";
    return picture;
  }
  return el("span", { "aria-hidden": "true" }, "kind" in value && value.kind === "verdict" ? "?" : "‹/›");
}
