/** Descriptions of a picture: of one cell, and of all. */

import { count, exact, short } from "../../parts/format";
import type { Picture } from "./picture";
import { isScaled } from "./picture";
import { countClipped } from "./marks";
import type { Slice } from "../../page/messages";
import type { Heatmap, TensorRecord } from "../../page/protocol";

/** `x[2, 0:3] = mean 0.25`: the index as Python writes it, and the value. */
export function cellText({ map, values }: Picture, slice: Slice, tensor: TensorRecord, row: number, column: number): string {
  const cell = row * map.columns + column;
  const channels = [...Array(map.channels).keys()].map((plane) => values[plane * map.rows * map.columns + cell] ?? NaN);
  const index = slice.indices.map((fixed, axis) => {
    if (map.channels > 1 && axis === tensor.channels) return ":";
    if (axis === slice.rows) return span(row, map.blockRows, map.fullRows);
    if (axis === slice.columns) return span(column, map.blockColumns, map.fullColumns);
    return String(fixed);
  });
  const element = index.length ? `${tensor.names[0]}[${index.join(", ")}]` : tensor.name;
  const name = isComplex(tensor.dtype) ? `abs(${element})` : element;
  const pooled = map.how === "mean" ? "mean " : map.how === "extreme" ? "extreme " : "";
  const isPooled = pooled !== "" && map.blockRows * map.blockColumns > 1;
  const texts = channels.map((value) => (isPooled ? short(value) : exact(value, tensor.dtype)));
  return `${name} = ${pooled}${texts.length > 1 ? `(${texts.join(", ")})` : texts[0]}`;
}

/** Whether absolute values are drawn, since complex numbers have no order. */
export function isComplex(dtype: string): boolean {
  return dtype.startsWith("complex");
}

function span(cell: number, block: number, length: number): string {
  if (block === 1) return String(cell);
  return `${cell * block}:${Math.min((cell + 1) * block, length)}`;
}

/** The meaning of a cell, of marks and of colours, in words. */
export function pictureText(picture: Picture): string {
  const { map, extent, scale, dtype } = picture;
  const parts = [map.channels > 1 ? cellsText(map).replace("cell", "pixel") : cellsText(map)];
  const what = map.channels > 1 ? "number" : "cell";
  if (isComplex(dtype)) parts.push("drawn is abs(x), the size of each complex number");
  const { above, below } = countClipped(picture);
  if (extent.nans) parts.push(`✕ NaN in ${count(extent.nans, what)}`);
  if (extent.infinities) parts.push(`∞ infinity in ${count(extent.infinities, what)}`);
  if (above) parts.push(`▲ above the scale in ${count(above, "cell")}`);
  if (below) parts.push(`▼ below it in ${count(below, "cell")}`);
  if (scale.palette === "diverging") parts.push("red is negative, blue positive");
  if (map.channels > 1) parts.push(lightText(picture, dtype));
  return parts.join(" · ");
}

/** Describe the points of a curve, and the values that it omits. */
export function curveText({ map, extent, dtype }: Picture): string {
  const parts = [cellsText(map).replace("cell", "point").replace("1 × ", "")];
  if (isComplex(dtype)) parts.push("drawn is abs(x), the size of each complex number");
  if (extent.nans) parts.push(`gaps are NaN: ${count(extent.nans, "point")}`);
  if (extent.infinities) parts.push(`or infinite: ${count(extent.infinities, "point")}`);
  return parts.join(" · ");
}

/** Describe brightness and transparency. */
function lightText({ map, scale }: Picture, dtype: string): string {
  const light = isScaled(scale, dtype)
    ? `scaled: ${short(scale.low)} is dark, ${short(scale.high)} bright`
    : `red, green and blue from 0 to ${scale.high}`;
  return map.channels === 4 ? `${light}, then alpha` : light;
}

function cellsText(map: Heatmap): string {
  if (map.how === "each") return "each cell is one element";
  if (map.how === "corner") return `the first ${map.rows} × ${map.columns} of ${map.fullRows} × ${map.fullColumns}`;
  const what = map.how === "mean" ? "the mean" : "the value farthest from zero";
  const block = `${map.blockRows} × ${map.blockColumns} elements`;
  const down = Math.ceil(map.blockRows / map.stepRows);
  const across = Math.ceil(map.blockColumns / map.stepColumns);
  if (map.stepRows * map.stepColumns === 1) return `each cell is ${what} of ${block}`;
  return `each cell is ${what} of ${down * across} samples out of ${block}`;
}
