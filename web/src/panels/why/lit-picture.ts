/** A small picture of a value in which the cells that were read are lit, and the others dimmed. */

import { el } from "../../parts/dom";
import { short } from "../../parts/format";
import { schemeOf } from "../../page/media";
import type { Page } from "../../page/page";
import type { Heatmap, TensorRecord, WhySource } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { mountSlider } from "../tensors/slider";
import { colourOf } from "../tensors/colours";
import { decodeHeatmap, drawWhole } from "../tensors/heatmap";
import type { Picture } from "../tensors/picture";
import { unpack } from "../tensors/unpack";
import "./lit-picture.css";

const ROOM = { width: 260, height: 180 };

/** Cells below this size get no frame. */
const LEAST_FRAMED = 6;

/** Colours of a scale. */
const SHADES = 16;

/** Cells beyond this count get no frame. */
const MOST_FRAMED = 64;

/** The lit cells: the id of their mask, and their count. */
type Lit = Pick<WhySource, "mask" | "count">;

/**
 * Draw the slice of a tensor with one of its cells when its values have arrived, with a slider for each further axis,
 * which changes `cell`; `choose` gets the cell that is clicked. A gradient is drawn next to it.
 */
export function mountLitPicture(page: Page, tensor: TensorRecord, cell: number[], lit: Lit | null, choose: (index: number[]) => void, room = ROOM, gradient: TensorRecord | null = null): HTMLElement {
  const canvas = el("canvas", { class: "lit-picture", "aria-hidden": "true" });
  const second = canvas.cloneNode() as HTMLCanvasElement;
  const [scale, secondScale] = [el("p", { class: "lit-scale" }), el("p", { class: "lit-scale" })];
  if (tensor.size < 2 || cell.length === 0) return el("div", {});
  const columns = cell.length - 1;
  const rows = cell.length > 1 ? columns - 1 : null;
  const note = el("p", { class: "lit-note", role: "status" });
  let map: Heatmap | null = null;
  let generation = 0;
  const draw = async (): Promise<void> => {
    const mine = ++generation;
    const slice = { rows, columns, indices: [...cell], size: "small" as const, channels: null };
    const values = await page.request("heatmap", { tensor: tensor.id, ...slice, how: "mean" });
    const gradients = gradient && (await page.request("heatmap", { tensor: gradient.id, ...slice, how: "mean" }));
    const mask = lit && (await page.request("heatmap", { tensor: lit.mask, ...slice, how: "extreme" }));
    if (mine !== generation) return;
    map = values;
    const put = (into: HTMLCanvasElement, legend: HTMLElement, map: Heatmap, dtype: string): void => {
      const picture = decodeHeatmap(map, dtype, schemeOf(page.view));
      drawWhole(into, picture, room);
      legend.replaceChildren(...scaleOf(picture));
    };
    put(canvas, scale, values, tensor.dtype);
    if (gradient && gradients) put(second, secondScale, gradients, gradient.dtype);
    if (mask) light(canvas, mask, lit.count <= MOST_FRAMED);
    note.textContent = [sliceOf(cell), mask && litIn(mask)].filter(Boolean).join(" ");
  };
  for (const one of [canvas, second]) {
    one.addEventListener("click", ({ offsetX, offsetY }) => {
      if (!map) return;
      const row = Math.floor((offsetY / one.clientHeight) * map.rows) * map.blockRows;
      const column = Math.floor((offsetX / one.clientWidth) * map.columns) * map.blockColumns;
      choose(cell.map((at, axis) => (axis === columns ? column : axis === rows ? row : at)));
    });
  }
  draw().catch(() => canvas.remove());
  const named = (picture: HTMLElement, legend: HTMLElement, text: string): HTMLElement => el("figure", {}, el("figcaption", { class: "lit-note" }, text), picture, legend);
  const picture = gradient
    ? el("div", { class: "lit-pair" }, named(canvas, scale, "value"), named(second, secondScale, "gradient"))
    : el("div", {}, canvas, scale);
  // A report has one slice of each picture.
  const axes = page.view.started ? [...cell.keys()].slice(0, -2).filter((axis) => tensor.shape[axis] !== 1) : [];
  if (!axes.length) return picture;
  const sliders = axes.map((axis) => {
    const slider = mountSlider(`axis ${axis}`, `Index on axis ${axis} of ${tensor.name}`, (at) => {
      cell[axis] = at;
      return draw().catch((error: unknown) => page.warn(messageOf(error)));
    });
    slider.set(cell[axis] ?? 0, tensor.shape[axis] ?? 1);
    return slider.dom;
  });
  return el("div", { class: "lit-slices" }, picture, ...sliders, note);
}

/** The colours from the least to the greatest value; a mask has two. */
function scaleOf({ scale }: Picture): (Node | string)[] {
  const { low, high, palette } = scale;
  if (palette === "mask" || !(low < high)) return [];
  const bar = el("span", { class: "lit-colours", "aria-hidden": "true" });
  const shades = Array.from({ length: SHADES }, (_, at) => `rgb(${[...colourOf(low + ((high - low) * at) / (SHADES - 1), scale)].slice(0, 3).join(" ")})`);
  bar.style.background = `linear-gradient(to right, ${shades.join(", ")})`;
  return [short(low), bar, short(high), el("span", { class: "visually-hidden" }, "are the ends of the colours")];
}

/** Which axes are fixed at which index, and which are drawn. */
export function sliceOf(cell: readonly number[]): string {
  const fixed = cell.slice(0, -2).map((at, axis) => `axis ${axis} at ${at}`);
  return `Fixed: ${fixed.join(", ")}; rows are axis ${cell.length - 2}, columns axis ${cell.length - 1}.`;
}

function litIn({ values, encoding }: Heatmap): string {
  return unpack(values, encoding).some((value) => value > 0) ? "" : "No lit cell is in this slice.";
}

/** Dim the cells that were not read, and frame the others. */
function light(canvas: HTMLCanvasElement, lit: Heatmap, isFramed: boolean): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const values = unpack(lit.values, lit.encoding);
  const { backgroundColor, color } = getComputedStyle(canvas);
  const [width, height] = [canvas.width / lit.columns, canvas.height / lit.rows];
  const paint = (isLit: boolean, cell: (x: number, y: number) => void): void => {
    values.forEach((value, at) => {
      if (value > 0 === isLit) cell((at % lit.columns) * width, Math.floor(at / lit.columns) * height);
    });
  };
  context.fillStyle = backgroundColor;
  context.globalAlpha = 0.75;
  paint(false, (x, y) => context.fillRect(x, y, width, height));
  context.globalAlpha = 1;
  if (!isFramed || Math.min(width, height) < LEAST_FRAMED) return;
  context.strokeStyle = color;
  context.lineWidth = 2;
  paint(true, (x, y) => context.strokeRect(x + 1, y + 1, width - 2, height - 2));
}
