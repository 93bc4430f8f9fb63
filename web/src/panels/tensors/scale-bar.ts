/** The scale of a picture: its colours, their numbers, and how many values have each. */

import { el } from "../../parts/dom";
import { count, short } from "../../parts/format";
import { colourOf, type Scale } from "./colours";
import { countInto, type Values } from "./unpack";

export interface ScaleBar {
  dom: HTMLElement;
  show(scale: Scale): void;
  /** Count values into bars; of larger slices one value in `step`. */
  count(values: Values, step: number): void;
  clear(): void;
}

const BINS = 40;

export function mountScaleBar(): ScaleBar {
  const bar = el("canvas", { class: "legend-bar", "aria-hidden": "true" });
  const ticks = el("div", { class: "legend-ticks" });
  const bars = el("div", { class: "bars", role: "img", "aria-label": "Histogram, being counted" });
  const note = el("p", { class: "legend-note" });
  const dom = el("div", { class: "legend", hidden: true }, bar, ticks, bars, note);
  let scale: Scale | null = null;
  return {
    dom,
    show: (next) => {
      dom.hidden = false;
      scale = next;
      drawColours(bar, next);
      const { low, high, diverging } = next;
      const middle = diverging ? 0 : low / 2 + high / 2;
      const values = low === high ? [low] : [high, middle, low];
      ticks.replaceChildren(...values.map((value) => el("span", {}, value === 0 ? "0" : short(value))));
    },
    count: (values, step) => {
      if (!scale) return;
      const { low, high } = scale;
      const counts = countInto(BINS, values, low, high).reverse();
      const most = Math.max(...counts, 1);
      const height = (high - low) / BINS;
      bars.replaceChildren(
        ...counts.map((number, index) => {
          const to = high - index * height;
          const title = `${short(to - height)} … ${short(to)}: ${count(number, "value")}`;
          const line = el("span", { title });
          line.style.width = number ? `${Math.max(3, (100 * number) / most)}%` : "0";
          return line;
        }),
      );
      bars.setAttribute("aria-label", `Histogram from ${short(low)} to ${short(high)}, the largest of ${BINS} bins holds ${count(most, "value")}`);
      note.textContent = step > 1 ? `one value in ${step.toLocaleString("en-US")} was counted` : "";
    },
    clear: () => {
      dom.hidden = true;
    },
  };
}

/** Draw the colours from high at the top to low at the bottom. */
function drawColours(canvas: HTMLCanvasElement, scale: Scale): void {
  canvas.width = 1;
  canvas.height = 256;
  const context = canvas.getContext("2d");
  if (!context) return;
  for (let y = 0; y < 256; y++) {
    const [r, g, b] = colourOf(scale.high + ((scale.low - scale.high) * y) / 255, scale);
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.fillRect(0, y, 1, 1);
  }
}
