/** How the values of a tensor are spread: bars with the numbers of both ends. */

import { el } from "../../parts/dom";
import { count, short } from "../../parts/format";
import type { Histogram } from "../../page/protocol";

export interface HistogramView {
  dom: HTMLElement;
  /** Make room for bars that come later, so that nothing below moves then. */
  expect(): void;
  show(bars: Histogram): void;
  clear(): void;
}

export function mountHistogram(): HistogramView {
  const bars = el("div", { class: "bars", role: "img" });
  const ends = el("div", { class: "legend-ticks" });
  const note = el("p", { class: "legend-note" });
  const head = el("div", { class: "histogram-head" }, el("h3", {}, "Histogram"), note);
  const dom = el("div", { class: "histogram", hidden: true }, head, bars, ends);
  return {
    dom,
    expect: () => {
      dom.hidden = false;
      bars.replaceChildren();
      bars.setAttribute("aria-label", "Histogram, being counted");
      ends.replaceChildren(el("span", {}, "\u00a0"));
      note.textContent = "";
    },
    show: ({ counts, low, high, step }) => {
      dom.hidden = counts.length === 0;
      const most = Math.max(...counts, 1);
      const width = (high - low) / Math.max(counts.length, 1);
      bars.replaceChildren(
        ...counts.map((number, index) => {
          const from = low + index * width;
          const bar = el("span", { title: `${short(from)} … ${short(from + width)}: ${count(number, "value")}` });
          bar.style.height = number ? `${Math.max(2, (100 * number) / most)}%` : "0";
          return bar;
        }),
      );
      bars.setAttribute("aria-label", `Histogram from ${short(low)} to ${short(high)}, the largest of ${counts.length} bins holds ${count(most, "value")}`);
      ends.replaceChildren(el("span", {}, short(low)), el("span", {}, short(high)));
      note.textContent = step > 1 ? `one value in ${step.toLocaleString("en-US")} was counted` : "";
    },
    clear: () => {
      dom.hidden = true;
    },
  };
}
