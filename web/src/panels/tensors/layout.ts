/** The layout of a tensor: its storage as a strip of cells, the order of visit, the tensors that share it. */

import { el, perFrame } from "../../parts/dom";
import { count, exact, short } from "../../parts/format";
import type { Page } from "../../page/page";
import type { Heatmap, TensorRecord } from "../../page/protocol";
import { colourOf, inkOn, NAN_PIXEL, type Scale } from "./colours";
import { latestOnly } from "./latest-only";
import { mountSlider } from "./slider";
import { addressOf, factsOf, indexAt, originOf, positionOf, readBlocks, sharersOf, stepOf, stridesInWords, Visits } from "./storage";
import { unpack, type Values } from "./unpack";

export interface LayoutView {
  dom: HTMLElement;
  show(tensor: TensorRecord, scale: Scale): Promise<void>;
  /** Light the cell of an element, as the cursor in the picture moves. */
  point(index: readonly number[]): void;
  rescale(scale: Scale): void;
  clear(): void;
}

interface Shown {
  tensor: TensorRecord;
  map: Heatmap;
  values: Values;
  read: Uint8Array;
  sharers: { colour: string; read: Uint8Array }[];
  visits: Visits;
}

/** Colours of the tensors that share a storage, readable on both themes. */
const SHARERS = ["#d9480f", "#7048c8", "#0c8599", "#c2255c", "#5c7a0a", "#1c6fc4"] as const;
/** The sizes of cells that are tried, in CSS pixels. */
const CELLS: readonly number[] = [34, 30, 26, 22, 18, 15, 12, 10, 8, 6, 5, 4, 3, 2];
/** From these sizes on a cell has a number, marks of its readers, a stroke if it is not read. */
const [LEAST_NUMBER, LEAST_MARKS, LEAST_STROKE] = [26, 12, 8];
/** Rows begin at multiples of this, where they fit. */
const ROUND = 4;
const MOST_LISTED = 20;
/** The steps before the current one that the path shows. */
const TRAIL = 6;
/** The strip's part of the height, and its least height in pixels. */
const [MOST_PART, LEAST_HEIGHT] = [0.5, 96];
/** Room for the storage positions at the left. */
const MARGIN = 38;

/** `visit` is called with the index of an element that the reader chose here. */
export function mountLayout(page: Page, visit: (index: number[]) => unknown): LayoutView {
  const origin = el("p", { class: "layout-origin" });
  const words = el("p", { class: "layout-words" });
  const canvas = el("canvas", { class: "layout-cells", tabindex: 0, role: "application" });
  const frame = el("div", { class: "layout-frame" }, canvas);
  const status = el("p", { class: "layout-at", role: "status" });
  const note = el("p", { class: "legend-note" });
  const slider = mountSlider("visit", "Order of visit, row by row", (step) => go(step));
  const list = el("ul", { class: "layout-sharers" });
  const dom = el("div", { class: "layout", hidden: true }, origin, words, frame, status, slider.dom, note, list);
  const requests = latestOnly(page, "storage");
  let now: Shown | null = null;
  let scale: Scale | null = null;
  let step = 0;
  let grid = { cell: 1, columns: 1 };

  const redraw = (): void => {
    if (!now || !scale || dom.hidden) return;
    const room = { width: Math.max(frame.clientWidth, 60), height: Math.max(dom.clientHeight * MOST_PART, LEAST_HEIGHT) };
    grid = gridIn(room, now.values.length);
    drawStrip(canvas, now, scale, grid, step, getComputedStyle(frame));
  };
  const redrawSoon = perFrame(redraw);
  new ResizeObserver(redrawSoon).observe(dom);

  const say = (): void => {
    if (!now) return;
    const { tensor, map, values } = now;
    const index = indexAt(tensor.shape, step);
    const value = values[positionOf(tensor, index)];
    const is = map.blockColumns === 1 && value !== undefined ? `: ${exact(value, tensor.dtype)}` : "";
    status.textContent = addressOf(tensor.name, tensor, index) + is;
  };
  /** Move to a step of the order of visit. */
  const set = (next: number): void => {
    if (!now) return;
    step = Math.min(Math.max(next, 0), now.tensor.size - 1);
    slider.set(step, now.tensor.size);
    say();
    redrawSoon();
  };
  const go = (next: number): unknown => {
    set(next);
    return now ? visit(indexAt(now.tensor.shape, step)) : undefined;
  };
  /** Say what reads the cell at a point, and go to its first reader. */
  const pointAt = (event: PointerEvent): void => {
    if (!now) return;
    const box = canvas.getBoundingClientRect();
    const [column, row] = [Math.floor((event.clientX - box.left - MARGIN) / grid.cell), Math.floor((event.clientY - box.top) / grid.cell)];
    const cell = row * grid.columns + column;
    if (column < 0 || column >= grid.columns || cell < 0 || cell >= now.values.length) return;
    const block = now.map.blockColumns;
    const name = block === 1 ? `storage[${cell}]` : `storage[${cell * block}:${Math.min((cell + 1) * block, now.map.fullColumns)}]`;
    const [first, ...others] = block === 1 ? now.visits.at(cell) : [];
    if (first === undefined) {
      status.textContent = now.read[cell] ? `${name}: mean ${short(now.values[cell])}` : `${name} is not read by ${now.tensor.name}`;
      return;
    }
    if (first !== step) go(first);
    if (others.length > 0) status.textContent += `; ${count(others.length, "more index reads", "more indices read")} it`;
  };
  canvas.addEventListener("pointermove", pointAt);
  canvas.addEventListener("pointerdown", pointAt);
  canvas.addEventListener("keydown", (event) => {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, number> = { ArrowRight: step + 1, ArrowLeft: step - 1, PageDown: step + 10, PageUp: step - 10, Home: 0, End: Infinity };
    const last = now.tensor.shape.at(-1) ?? 1;
    const to = { ...moves, ArrowDown: step + last, ArrowUp: step - last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    slider.stop();
    go(to);
  });

  const listSharers = (shown: Shown, sharers: readonly TensorRecord[]): void => {
    const own = { colour: "", read: shown.read };
    const readers = [shown.tensor, ...sharers].map((tensor, at) => itemOf(tensor, at === 0 ? own : shown.sharers[at - 1], shown.map));
    list.replaceChildren(...(sharers.length > 0 ? [el("li", { class: "layout-title" }, "Tensors that share this storage"), ...readers] : []));
  };
  return {
    dom,
    show: async (tensor, nextScale) => {
      const isSame = now?.tensor === tensor;
      scale = nextScale;
      if (isSame) return redrawSoon();
      const sharers = sharersOf(tensor, page.view.tensors).slice(0, MOST_LISTED);
      const map = await requests.request({ tensor: tensor.id });
      if (!map) return;
      const [block, blocks] = [map.blockColumns, map.columns];
      const readers = sharers.map((other, at) => ({ colour: SHARERS[at % SHARERS.length] ?? "", read: readBlocks(other, block, blocks) }));
      const isSmall = block === 1;
      now = {
        ...{ tensor, map, values: unpack(map.values, map.encoding), read: readBlocks(tensor, block, blocks), sharers: readers },
        visits: new Visits(tensor, isSmall ? tensor.size : Infinity),
      };
      origin.textContent = originOf(tensor, sharers);
      words.textContent = stridesInWords(tensor);
      const missed = now.read.some((one) => one === 0) ? " · grey: not read by this tensor" : "";
      note.textContent = `each cell is ${isSmall ? "one element of the storage" : `the mean of ${count(block, "element")} of the storage`}${missed}`;
      canvas.setAttribute("aria-label", `Storage of ${tensor.name}, ${count(map.fullColumns, "element")}; arrow keys follow the order of visit`);
      slider.stop();
      slider.dom.hidden = tensor.size === 0;
      listSharers(now, sharers);
      set(0);
      redraw();
    },
    point: (index) => {
      if (!now || dom.hidden) return;
      const next = stepOf(now.tensor.shape, index);
      if (next === step) return;
      slider.stop();
      set(next);
    },
    rescale: (next) => {
      scale = next;
      redrawSoon();
    },
    clear: () => {
      slider.stop();
      now = null;
    },
  };
}

/** The largest cells that fit; rows are a round count of cells long. */
function gridIn({ width, height }: { width: number; height: number }, cells: number): { cell: number; columns: number } {
  let found = { cell: 1, columns: 1 };
  for (const cell of CELLS) {
    const most = Math.max(Math.floor((width - MARGIN) / cell), 1);
    const columns = cells <= most ? Math.max(cells, 1) : most >= ROUND ? most - (most % ROUND) : most;
    found = { cell, columns };
    if (Math.ceil(cells / columns) * cell <= height) break;
  }
  return found;
}

function drawStrip(
  canvas: HTMLCanvasElement,
  { tensor, map, values, read, sharers }: Shown,
  scale: Scale,
  { cell, columns }: { cell: number; columns: number },
  step: number,
  style: CSSStyleDeclaration,
): void {
  const ratio = window.devicePixelRatio || 1;
  const rows = Math.ceil(values.length / columns);
  const [width, height] = [MARGIN + columns * cell + 2, rows * cell + 2];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  // A canvas takes computed colours only, not `light-dark()`.
  const [ink, ground] = [style.color, style.outlineColor];
  const gap = cell >= LEAST_STROKE ? 1 : 0;
  const corner = (at: number): [number, number] => [MARGIN + (at % columns) * cell + 1, Math.floor(at / columns) * cell + 1];
  context.textAlign = "center";
  context.textBaseline = "middle";
  values.forEach((value, at) => {
    const [x, y] = corner(at);
    const isRead = read[at] === 1;
    const colour = value === value ? colourOf(value, scale) : NAN_PIXEL;
    context.fillStyle = isRead ? `rgb(${colour.join(" ")})` : ground;
    context.fillRect(x, y, cell - gap, cell - gap);
    if (!isRead && cell >= LEAST_STROKE) stroke(context, ink, 1, [[x, y + cell - gap], [x + cell - gap, y]]);
    if (cell >= LEAST_MARKS) {
      const wide = (cell - gap) / Math.max(sharers.length, 1);
      sharers.forEach((other, which) => {
        if (!other.read[at]) return;
        context.fillStyle = other.colour;
        context.fillRect(x + which * wide, y + cell - gap - 3, Math.max(wide - 0.5, 1), 3);
      });
    }
  });
  drawPositions(context, ink, { cell, columns, rows, block: map.blockColumns });
  drawTrail(context, tensor, step, (position) => {
    const [x, y] = corner(Math.floor(position / map.blockColumns));
    return [x, y, cell - gap];
  });
  if (cell < LEAST_NUMBER) return;
  context.textAlign = "center";
  values.forEach((value, at) => {
    if (read[at] !== 1) return;
    const [[x, y], text] = [corner(at), short(value)];
    context.font = `${Math.min(12, ((cell - 3) * 1.5) / Math.max(text.length, 2))}px ui-monospace, monospace`;
    context.fillStyle = inkOn(value === value ? colourOf(value, scale) : NAN_PIXEL);
    context.fillText(text, x + cell / 2, y + cell / 2 - (sharers.length > 0 ? 2 : 0));
  });
}

/** The storage position at the start of rows, where there is room for it. */
function drawPositions(context: CanvasRenderingContext2D, ink: string, { cell, columns, rows, block }: { cell: number; columns: number; rows: number; block: number }): void {
  context.fillStyle = ink;
  context.font = "11px ui-monospace, monospace";
  context.textAlign = "right";
  const every = Math.ceil(14 / cell);
  for (let row = 0; row < rows && row * cell + 8 <= rows * cell; row += every) {
    context.fillText(positionText(row * columns * block), MARGIN - 5, row * cell + Math.max(cell, 11) / 2 + 1);
  }
}

/** A position that fits into the margin. */
function positionText(position: number): string {
  if (position < 100_000) return String(position);
  return position < 1e6 ? `${Math.round(position / 1e3)}k` : `${(position / 1e6).toFixed(1)}M`;
}

/** Draw the path of the last steps, and a ring around the current cell. */
function drawTrail(context: CanvasRenderingContext2D, tensor: TensorRecord, step: number, boxOf: (position: number) => [number, number, number]): void {
  if (tensor.size === 0) return;
  const steps = Array.from({ length: Math.min(TRAIL, step) + 1 }, (_, back) => step - back);
  const boxes = steps.map((one) => boxOf(positionOf(tensor, indexAt(tensor.shape, one))));
  const middles = boxes.map(([x, y, side]): [number, number] => [x + side / 2, y + side / 2]);
  for (let back = middles.length - 1; back > 0; back--) {
    const [from, to] = [middles[back], middles[back - 1]];
    if (!from || !to) continue;
    context.globalAlpha = 0.8 - (0.7 * (back - 1)) / TRAIL;
    stroke(context, "#fff", 3, [from, to]);
    stroke(context, "#000", 1, [from, to]);
  }
  context.globalAlpha = 1;
  const [x, y, side] = boxes[0] ?? [0, 0, 0];
  const [size, shift] = [Math.max(side, 4), (Math.max(side, 4) - side) / 2];
  for (const [colour, width] of [["#000", 3.5], ["#fff", 1.5]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(x - shift + 1, y - shift + 1, size - 2, size - 2);
  }
}

function stroke(context: CanvasRenderingContext2D, colour: string, width: number, points: readonly (readonly [number, number])[]): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  points.forEach(([x, y], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.stroke();
}

/** One tensor of the storage: its name, what it reads in words, and as a bar. */
function itemOf(tensor: TensorRecord, reader: { colour: string; read: Uint8Array } | undefined, map: Heatmap): HTMLElement {
  const read = reader?.read ?? new Uint8Array();
  const bar = el("canvas", { class: "layout-bar", width: Math.max(read.length, 1), height: 1, "aria-hidden": true });
  const context = bar.getContext("2d");
  if (context) context.fillStyle = reader?.colour || getComputedStyle(document.body).color;
  read.forEach((one, at) => one && context?.fillRect(at, 0, 1, 1));
  const swatch = el("i", { "aria-hidden": true });
  if (reader?.colour) swatch.style.background = reader.colour;
  const total = read.reduce((sum, one) => sum + one, 0);
  return el("li", {}, swatch, el("b", {}, tensor.name), el("span", {}, factsOf(tensor, total, read.length, map.blockColumns)), bar);
}
