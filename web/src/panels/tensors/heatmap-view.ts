/** The heat map with its legend, and a cell cursor for mouse, touch and arrow keys. */

import { el, perFrame } from "../../parts/dom";
import { count, exact, short } from "../../parts/format";
import { decodeHeatmap, draw, drawLegend, type Drawing, type Picture, type Room } from "./heatmap";
import type { Slice, TensorRecord } from "../../page/protocol";
import type { Scheme } from "../../page/media";

export interface CanvasView {
  dom: HTMLElement;
  show(picture: Picture, slice: Slice, tensor: TensorRecord): void;
  recolour(scheme: Scheme): void;
  clear(): void;
}

export function mountCanvas(): CanvasView {
  const canvas = el("canvas", { tabindex: 0, role: "application", class: "heatmap" });
  const ring = el("div", { class: "ring", hidden: true });
  const frame = el("div", { class: "heatmap-frame" }, canvas, ring);
  const scroll = el("div", { class: "heatmap-scroll" }, frame);
  const bar = el("canvas", { class: "legend-bar", "aria-hidden": "true" });
  const ticks = el("div", { class: "legend-ticks" });
  const note = el("p", { class: "legend-note" });
  const legend = el("div", { class: "legend" }, bar, ticks, note);
  const status = el("p", { class: "cell-status", role: "status" });
  const dom = el("div", { class: "heatmap-view", hidden: true }, status, scroll, legend);
  let now: { picture: Picture; slice: Slice; tensor: TensorRecord } | null = null;
  let drawing: Drawing = { cellWidth: 1, cellHeight: 1 };
  let cursor = { row: 0, column: 0 };

  const room = (): Room => ({ width: scroll.clientWidth - 6, height: 460, largestCell: 56 });
  const redraw = perFrame(() => {
    if (!now) return;
    drawing = draw(canvas, now.picture, room());
    drawLegend(bar, now.picture.scale);
    if (!ring.hidden) place();
  });
  /** Put the ring round the cursor's cell and say its value. */
  const place = (): void => {
    if (!now || now.picture.map.rows === 0) return;
    const { row, column } = cursor;
    ring.hidden = false;
    ring.style.left = `${column * drawing.cellWidth}px`;
    ring.style.top = `${row * drawing.cellHeight}px`;
    ring.style.width = `${drawing.cellWidth}px`;
    ring.style.height = `${drawing.cellHeight}px`;
    status.textContent = cellText(now.picture, now.slice, now.tensor, row, column);
  };
  const onPointer = (event: PointerEvent): void => {
    if (!now) return;
    const box = canvas.getBoundingClientRect();
    const { rows, columns } = now.picture.map;
    const row = Math.floor((event.clientY - box.top) / drawing.cellHeight);
    const column = Math.floor((event.clientX - box.left) / drawing.cellWidth);
    if (row < 0 || column < 0 || row >= rows || column >= columns) return;
    cursor = { row, column };
    place();
  };
  canvas.addEventListener("pointermove", onPointer);
  canvas.addEventListener("pointerdown", onPointer);
  canvas.addEventListener("pointerleave", () => {
    if (document.activeElement !== canvas) ring.hidden = true;
  });
  canvas.addEventListener("focus", place);
  canvas.addEventListener("blur", () => (ring.hidden = true));
  canvas.addEventListener("keydown", (event) => {
    const move = now && moved(event.key, cursor, now.picture.map.rows, now.picture.map.columns);
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    cursor = move;
    place();
    ring.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  const sizes = new ResizeObserver(redraw);
  sizes.observe(scroll);
  return {
    dom,
    show: (picture, slice, tensor) => {
      if (now?.tensor !== tensor) cursor = { row: 0, column: 0 };
      now = { picture, slice, tensor };
      const { rows, columns } = picture.map;
      dom.hidden = rows * columns === 0;
      if (dom.hidden) return;
      cursor = { row: Math.min(cursor.row, rows - 1), column: Math.min(cursor.column, columns - 1) };
      canvas.setAttribute("aria-label", `Heat map of ${tensor.name}, ${rows} by ${columns} cells; arrow keys move`);
      ring.hidden = document.activeElement !== canvas;
      status.textContent = "Point at a cell, or use the arrow keys, to see its value.";
      drawing = draw(canvas, picture, room());
      drawLegend(bar, picture.scale);
      const { low, high, diverging } = picture.scale;
      const middle = diverging ? 0 : (low + high) / 2;
      const values = low === high ? [low] : [low, middle, high];
      ticks.replaceChildren(...values.map((value) => el("span", {}, short(value))));
      note.textContent = legendText(picture);
    },
    recolour: (scheme) => {
      if (now) now.picture = decodeHeatmap(now.picture.map, scheme);
      redraw();
    },
    clear: () => {
      now = null;
      dom.hidden = true;
    },
  };
}

/** Where a key takes the cursor, null for any other key. */
function moved(
  key: string,
  { row, column }: { row: number; column: number },
  rows: number,
  columns: number,
): { row: number; column: number } | null {
  const steps: Record<string, readonly [number, number]> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-10, 0],
    PageDown: [10, 0],
    Home: [0, -columns],
    End: [0, columns],
  };
  const step = steps[key];
  if (!step) return null;
  const within = (value: number, length: number): number => Math.min(Math.max(value, 0), length - 1);
  return { row: within(row + step[0], rows), column: within(column + step[1], columns) };
}

/** `[2, 0:3] mean 0.25`: the index as Python writes it, and the value. */
function cellText(
  { map, values }: Picture,
  slice: Slice,
  tensor: TensorRecord,
  row: number,
  column: number,
): string {
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

function legendText({ map, values }: Picture): string {
  const parts = [];
  if (map.how === "each") parts.push("each cell is one element");
  else if (map.how === "corner") {
    parts.push(`the first ${map.rows} × ${map.columns} of ${map.fullRows} × ${map.fullColumns}`);
  } else {
    const what = map.how === "mean" ? "the mean" : "the value farthest from zero";
    parts.push(`each cell is ${what} of ${map.blockRows} × ${map.blockColumns} elements`);
  }
  const nans = values.reduce((sum, value) => sum + (Number.isNaN(value) ? 1 : 0), 0);
  const infinities = values.reduce((sum, value) => sum + (Math.abs(value) === Infinity ? 1 : 0), 0);
  if (nans) parts.push(`✕ NaN in ${count(nans, "cell")}`);
  if (infinities) parts.push(`I infinity in ${count(infinities, "cell")}`);
  if (map.diverging) parts.push("red is negative, blue positive");
  return parts.join(" · ");
}
