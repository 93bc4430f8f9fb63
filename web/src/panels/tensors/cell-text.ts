/** Words for a picture: what one cell is, and what all of them are. */

import { count, exact, short } from "../../parts/format";
import type { Picture } from "./heatmap";
import type { Heatmap, Slice, TensorRecord } from "../../page/protocol";

/** `x[2, 0:3] = mean 0.25`: the index as Python writes it, and the value. */
export function cellText({ map, values }: Picture, slice: Slice, tensor: TensorRecord, row: number, column: number): string {
  const value = values[row * map.columns + column] ?? NaN;
  const index = slice.indices.map((fixed, axis) => {
    if (axis === slice.rows) return span(row, map.blockRows, map.fullRows);
    if (axis === slice.columns) return span(column, map.blockColumns, map.fullColumns);
    return String(fixed);
  });
  const name = index.length ? `${tensor.names[0]}[${index.join(", ")}]` : tensor.name;
  const pooled = map.how === "mean" ? "mean " : map.how === "extreme" ? "extreme " : "";
  const text = pooled && map.blockRows * map.blockColumns > 1 ? short(value) : exact(value, tensor.dtype);
  return `${name} = ${pooled}${text}`;
}

function span(cell: number, block: number, length: number): string {
  if (block === 1) return String(cell);
  return `${cell * block}:${Math.min((cell + 1) * block, length)}`;
}

/** What a cell is, what is marked, and what the colours mean. */
export function pictureText({ map, extent, scale }: Picture): string {
  const parts = [cellsText(map)];
  if (extent.nans) parts.push(`✕ NaN in ${count(extent.nans, "cell")}`);
  if (extent.infinities) parts.push(`I infinity in ${count(extent.infinities, "cell")}`);
  if (scale.diverging) parts.push("red is negative, blue positive");
  return parts.join(" · ");
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
