/** A chart of labelled horizontal bars, marked up as a table. */

import { el } from "../../parts/dom";
import type { BarChart } from "../../page/protocol";
import "./bar-chart.css";

/** Draw a chart; for screen readers it is a table of labels and numbers. */
export function barChart({ heading, unit, bars, ticks }: BarChart): HTMLElement {
  const rows = bars.map(({ label, text, length, marked }) => {
    const bar = el("div", { class: "bar" });
    bar.style.inlineSize = percent(length);
    return el(
      "tr",
      { class: marked ? "marked" : null },
      el("th", { scope: "row" }, label),
      el("td", { class: "bar-text" }, text, el("span", { class: "visually-hidden" }, unit ? ` ${unit}` : "")),
      el("td", { class: "bar-track", "aria-hidden": "true" }, grid(ticks), bar),
    );
  });
  return el(
    "table",
    { class: "bar-chart" },
    heading ? el("caption", {}, heading) : null,
    el("tbody", {}, ...rows),
    el("tfoot", { "aria-hidden": "true" }, el("tr", {}, el("td", { colspan: 2 }), el("td", {}, axis(ticks)))),
  );
}

function grid(ticks: BarChart["ticks"]): HTMLElement {
  return el("div", { class: "bar-grid" }, ...ticks.map(({ position }) => at(position, el("i"))));
}

function axis(ticks: BarChart["ticks"]): HTMLElement {
  return el("div", { class: "bar-axis" }, ...ticks.map(({ text, position }) => at(position, el("span", {}, text))));
}

function at<E extends HTMLElement>(position: number, node: E): E {
  node.style.insetInlineStart = percent(position);
  return node;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(2)}%`;
}
