/** A small picture of a value in which the cells that were read are lit, and the others dimmed. */

import { el } from "../../parts/dom";
import { schemeOf } from "../../page/media";
import type { Page } from "../../page/page";
import type { Heatmap, TensorRecord, WhySource } from "../../page/protocol";
import { decodeHeatmap, drawWhole } from "../tensors/heatmap";
import { unpack } from "../tensors/unpack";
import "./lit-picture.css";

const ROOM = { width: 260, height: 180 };

/** Cells below this size get no frame. */
const LEAST_FRAMED = 6;

/** Cells beyond this count get no frame. */
const MOST_FRAMED = 64;

/** The lit cells: the id of their mask, and their count. */
type Lit = Pick<WhySource, "mask" | "count">;

/** Draw the slice of a tensor with one of its cells when its values have arrived; `choose` gets the cell that is clicked. */
export function mountLitPicture(page: Page, tensor: TensorRecord, first: readonly number[], lit: Lit | null, choose: (index: number[]) => void, room = ROOM): HTMLElement {
  const canvas = el("canvas", { class: "lit-picture", "aria-hidden": "true" });
  if (tensor.size < 2 || first.length === 0) return el("div", {});
  const columns = first.length - 1;
  const rows = first.length > 1 ? columns - 1 : null;
  const slice = { rows, columns, indices: [...first], size: "small" as const, channels: null };
  let map: Heatmap | null = null;
  const draw = async (): Promise<void> => {
    const values = await page.request("heatmap", { tensor: tensor.id, ...slice, how: "mean" });
    const mask = lit && (await page.request("heatmap", { tensor: lit.mask, ...slice, how: "extreme" }));
    map = values;
    drawWhole(canvas, decodeHeatmap(values, tensor.dtype, schemeOf(page.view)), room);
    if (mask) light(canvas, mask, lit.count <= MOST_FRAMED);
  };
  canvas.addEventListener("click", ({ offsetX, offsetY }) => {
    if (!map) return;
    const row = Math.floor((offsetY / canvas.clientHeight) * map.rows) * map.blockRows;
    const column = Math.floor((offsetX / canvas.clientWidth) * map.columns) * map.blockColumns;
    choose(first.map((at, axis) => (axis === columns ? column : axis === rows ? row : at)));
  });
  draw().catch(() => canvas.remove());
  return canvas;
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
