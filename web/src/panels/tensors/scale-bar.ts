/** The scale of a picture: its colours, how many values have each, and ways to change it. */

import { button, el } from "../../parts/dom";
import { count, short } from "../../parts/format";
import { about, moved, withoutOutliers } from "./bounds";
import { colourOf, type Scale } from "./colours";
import type { Picture } from "./picture";
import { shownOf } from "./picture";
import { countInto, type Values } from "./unpack";
import type { Bounds } from "../../page/view-settings";

export interface ScaleBar {
  dom: HTMLElement;
  show(picture: Picture): void;
  /** Count values into bars; of larger slices one value in `step`. */
  count(values: Values, step: number): void;
  /** Whether the reader chose the scale, and locked it for all tensors. */
  mark(isChosen: boolean, isHeld: boolean): void;
  clear(): void;
}

export interface ScaleEvents {
  /** The reader chose bounds; null for the default scale. */
  choose(bounds: Bounds | null): void;
  /** The reader locked the scale for all tensors, or unlocked it. */
  hold(isHeld: boolean): void;
}

const BINS = 40;
/** The least movement of a drag. */
const LEAST_DRAG = 4;

export function mountScaleBar(events: ScaleEvents): ScaleBar {
  const bar = el("canvas", { class: "legend-bar", "aria-hidden": "true" });
  const middle = el("div", { class: "legend-middle" });
  const bars = el("div", { class: "bars", role: "img", "aria-label": "Histogram, being counted" });
  const brush = el("div", { class: "brush", hidden: true });
  const body = el("div", { class: "legend-body", title: "Click: centre the colours there · drag: from here to there" }, bar, middle, bars, brush);
  const ends = { high: endField("high", "Upper end of the scale"), low: endField("low", "Lower end of the scale") };
  const note = el("p", { class: "legend-note" });
  /** A scale of equal values cannot be narrowed. */
  const choose = (bounds: Bounds | null): void => {
    if (bounds) events.choose(bounds);
  };
  const clip = button("Clip", () => picture && choose(withoutOutliers(shownOf(picture), picture.scale)), {
    class: "quiet",
    title: "Leave out the least and the greatest 1 % of the values",
  });
  const hold = button("Hold", () => events.hold(hold.getAttribute("aria-pressed") !== "true"), {
    class: "quiet",
    "aria-pressed": "false",
    title: "Keep this scale for all tensors until it is released",
  });
  const reset = button("Reset scale", () => events.choose(null), { class: "quiet reset", title: "The scale of the values (Escape)" });
  const tools = el("div", { class: "legend-tools", role: "group", "aria-label": "Scale" }, clip, hold, reset, note);
  const dom = el("div", { class: "legend", hidden: true }, ends.high, body, ends.low, tools);
  let picture: Picture | null = null;
  let counted: { values: Values; step: number } | null = null;

  function endField(end: "low" | "high", label: string): HTMLInputElement {
    const field = el("input", { class: "legend-end", "aria-label": label, autocomplete: "off", spellcheck: "false" });
    field.addEventListener("change", () => {
      if (!picture) return;
      const bounds = field.value.trim() === "" ? null : moved(picture.scale, end, Number(field.value));
      field.setCustomValidity(bounds ? "" : "Type a number that leaves the upper end above the lower one.");
      if (bounds) events.choose(bounds);
      else if (field.reportValidity()) return;
      else field.value = endText(picture.scale, end);
    });
    field.addEventListener("input", () => field.setCustomValidity(""));
    return field;
  }
  const recount = (): void => {
    if (!picture || !counted) return;
    const { low, high } = picture.scale;
    const bins = binsOf(picture);
    const counts = countInto(bins, counted.values, low, high).reverse();
    const most = Math.max(...counts, 1);
    const height = (high - low) / bins;
    bars.replaceChildren(
      ...counts.map((number, index) => {
        const to = high - index * height;
        const title = `${short(to - height)} … ${short(to)}: ${count(number, "value")}`;
        const line = el("span", { title });
        line.style.width = number ? `${Math.max(3, (100 * number) / most)}%` : "0";
        return line;
      }),
    );
    bars.setAttribute("aria-label", `Histogram from ${short(low)} to ${short(high)}, the largest of ${bins} bins holds ${count(most, "value")}`);
    note.textContent = counted.step > 1 ? `1 in ${counted.step.toLocaleString("en-US")} counted` : "";
    note.title = note.textContent && `One value in ${counted.step.toLocaleString("en-US")} is in the histogram`;
  };
  mountBrush(body, brush, {
    at: (value) => picture && choose(about(value, shownOf(picture))),
    between: (low, high) => choose({ low, high, diverging: false }),
    scale: () => (picture && isFree(picture) ? picture.scale : null),
  });
  return {
    dom,
    show: (next) => {
      dom.hidden = false;
      if (picture && picture.map !== next.map) counted = null;
      picture = next;
      const { scale } = next;
      drawColours(bar, scale, binsOf(next));
      for (const end of ["high", "low"] as const) {
        ends[end].value = endText(scale, end);
        ends[end].readOnly = !isFree(next);
        ends[end].setCustomValidity("");
      }
      const value = scale.low === -scale.high ? 0 : scale.low / 2 + scale.high / 2;
      middle.textContent = isFree(next) && scale.low < scale.high ? short(value) : "";
      for (const tool of [clip, hold, reset]) tool.disabled = !isFree(next);
      body.classList.toggle("free", isFree(next));
      recount();
    },
    count: (values, step) => {
      counted = { values, step };
      recount();
    },
    mark: (isChosen, isHeld) => {
      reset.classList.toggle("unseen", !isChosen);
      reset.disabled = !isChosen;
      hold.setAttribute("aria-pressed", String(isHeld));
    },
    clear: () => {
      dom.hidden = true;
      picture = null;
    },
  };
}

/** Whether a picture can have another scale; a mask cannot. */
function isFree({ scale }: Picture): boolean {
  return scale.palette !== "mask";
}

/** A mask has two colours; pooled blocks of a mask have fractions between them. */
function binsOf({ scale, map }: Picture): number {
  return scale.palette === "mask" && map.how === "each" ? 2 : BINS;
}

function endText({ low, high, palette }: Scale, end: "low" | "high"): string {
  if (palette === "mask") return end === "high" ? "True" : "False";
  const value = end === "high" ? high : low;
  return value === 0 ? "0" : short(value);
}

interface BrushEvents {
  at(value: number): unknown;
  between(low: number, high: number): void;
  scale(): Scale | null;
}

/** Select a value or a range of the scale by pointer. */
function mountBrush(body: HTMLElement, brush: HTMLElement, events: BrushEvents): void {
  let start: number | null = null;
  const positionOf = (event: PointerEvent): number => {
    const { top, height } = body.getBoundingClientRect();
    return Math.min(Math.max(event.clientY - top, 0), height);
  };
  const valueAt = (y: number, { low, high }: Scale): number => high + (low - high) * (y / Math.max(body.clientHeight, 1));
  body.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !events.scale()) return;
    start = positionOf(event);
    body.setPointerCapture(event.pointerId);
  });
  body.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const [top, bottom] = [Math.min(start, positionOf(event)), Math.max(start, positionOf(event))];
    brush.hidden = bottom - top < LEAST_DRAG;
    brush.style.top = `${top}px`;
    brush.style.height = `${bottom - top}px`;
  });
  body.addEventListener("pointerup", (event) => {
    const scale = events.scale();
    const [from, to] = [start, positionOf(event)];
    start = null;
    brush.hidden = true;
    if (from === null || !scale) return;
    if (Math.abs(to - from) < LEAST_DRAG) events.at(valueAt(to, scale));
    else events.between(valueAt(Math.max(from, to), scale), valueAt(Math.min(from, to), scale));
  });
  body.addEventListener("pointercancel", () => {
    start = null;
    brush.hidden = true;
  });
}

/** Draw the colours from high at the top to low at the bottom; of a mask two. */
function drawColours(canvas: HTMLCanvasElement, scale: Scale, bins: number): void {
  const steps = bins === 2 ? 2 : 256;
  canvas.width = 1;
  canvas.height = steps;
  const context = canvas.getContext("2d");
  if (!context) return;
  for (let y = 0; y < steps; y++) {
    const [r, g, b] = colourOf(scale.high + ((scale.low - scale.high) * y) / (steps - 1), scale);
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.fillRect(0, y, 1, 1);
  }
}
