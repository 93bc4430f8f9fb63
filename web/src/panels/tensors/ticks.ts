/** Ticks and axis names along two edges of a picture. */

import { el } from "../../parts/dom";
import type { Slice } from "../../page/messages";
import type { Heatmap } from "../../page/protocol";
import type { Viewport, Size } from "./viewport";

export interface Ticks {
  dom: HTMLElement;
  show(map: Heatmap, slice: Slice, viewport: Viewport, room: Size): void;
}

/** The least distance between two ticks along each edge, in pixels. */
const ACROSS = 52;
const DOWN = 30;
/** Pixels at the end of each edge that are reserved for the axis' name. */
const NAME = 76;

export function mountTicks(frame: HTMLElement): Ticks {
  const top = el("div", { class: "ticks ticks-top" });
  const side = el("div", { class: "ticks ticks-side" });
  const dom = el("div", { class: "picture" }, top, side, frame);
  return {
    dom,
    show: (map, slice, viewport, room) => {
      draw(top, "left", viewport.x, viewport.cellWidth, map.columns, map.blockColumns, room.width, ACROSS);
      nameAxis(top, slice.columns);
      draw(side, "top", viewport.y, viewport.cellHeight, map.rows, map.blockRows, room.height, DOWN);
      nameAxis(side, slice.rows);
    },
  };
}

function nameAxis(host: HTMLElement, axis: number | null): void {
  if (axis !== null) host.append(el("span", { class: "axis-name" }, `axis ${axis} →`));
}

function draw(
  host: HTMLElement,
  edge: "left" | "top",
  start: number,
  size: number,
  length: number,
  block: number,
  room: number,
  apart: number,
): void {
  const step = stepOf((apart / size) * block);
  const first = Math.max(0, Math.ceil(((-start / size) * block) / step)) * step;
  const labels: HTMLElement[] = [];
  for (let index = first; index < length * block; index += step) {
    const middle = start + (Math.floor(index / block) + 0.5) * size;
    if (middle > room - NAME && index > first) break;
    const label = el("span", {}, String(index));
    // In a small cell, half of the number may be longer than the distance to the edge.
    label.style[edge] = `max(${edge === "top" ? "0.5lh" : `${label.textContent.length / 2}ch`}, ${middle}px)`;
    labels.push(label);
  }
  host.replaceChildren(...labels);
}

/** The least of 1, 2, 5, 10, 20 … that is not below a number. */
function stepOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 1;
}
