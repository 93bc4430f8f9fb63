/** Plots that the program showed, each a card that is redrawn when it is updated. */

import { chartLegend, mountChart, type Chart } from "../../parts/chart";
import { button, el } from "../../parts/dom";
import type { PlotRecord } from "../../page/protocol";

export interface Plots {
  /** Draw a plot into its card; return the card if it is new. */
  draw(plot: PlotRecord): HTMLElement | null;
  begin(): void;
}

interface Card {
  dom: HTMLElement;
  title: HTMLElement;
  chart: Chart;
  legend: HTMLElement;
}

export function mountPlots(enlarge: (display: number) => void): Plots {
  let cards = new Map<number, Card>();
  return {
    draw: (plot) => {
      const known = cards.get(plot.display);
      const card = known ?? newCard(() => enlarge(plot.display));
      cards.set(plot.display, card);
      card.title.textContent = plot.title;
      card.title.hidden = plot.title === "";
      card.chart.draw(plot);
      card.legend.replaceChildren(chartLegend(plot) ?? "");
      return known ? null : card.dom;
    },
    begin: () => {
      cards = new Map();
    },
  };
}

function newCard(enlarge: () => void): Card {
  const title = button("", enlarge, { class: "display-name", title: "Show it large" });
  const chart = mountChart();
  const legend = el("div");
  return { dom: el("div", { class: "display plot-card" }, title, chart.dom, legend), title, chart, legend };
}
