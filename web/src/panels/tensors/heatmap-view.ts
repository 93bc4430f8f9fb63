/** The picture in its frame: zoom, pan and a cell cursor by mouse, touch and keys. */

import { button, el, perFrame } from "../../parts/dom";
import type { Scale } from "./colours";
import { drawPart, repaint } from "./heatmap";
import type { Picture } from "./picture";
import { cellText } from "./cell-text";
import { mountGestures } from "./gestures";
import { mountTicks } from "./ticks";
import { fitted, panned, pixelForPixel, showing, zoomed, type Viewport, type Point, type Size } from "./viewport";
import type { Slice } from "../../page/messages";
import type { TensorRecord } from "../../page/protocol";

export interface CanvasView {
  dom: HTMLElement;
  /** Buttons that zoom. */
  tools: HTMLElement;
  show(picture: Picture, slice: Slice, tensor: TensorRecord): void;
  /** Put the cursor on the cell of an element, and scroll to it. */
  goTo(row: number, column: number): void;
  /** Take the viewport of another picture of the same size. */
  follow(viewport: Viewport, isFit: boolean): void;
  /** The cell of the cursor. */
  cursor(): Cell;
  /** Put the cursor on the cell of another picture's cursor. */
  pointAt(cell: Cell | null): void;
  /** Repaint the values with another scale. */
  rescale(scale: Scale): Picture | null;
  clear(): void;
}

interface Shown {
  picture: Picture;
  slice: Slice;
  tensor: TensorRecord;
}

const INVITATION = "Point at a cell or use arrow keys.";
const PAN_PART = 0.25;

export interface CanvasEvents {
  /** The reader requested a scale around the value of a cell. */
  centre(value: number): void;
  /** The reader requested the default scale. */
  reset(): void;
  /** The picture was zoomed or moved by hand. */
  moved?(viewport: Viewport, isFit: boolean): void;
  /** The reader asks why the cell of the cursor has its value. */
  why?(): void;
  /** The cursor moved to this cell, or left the picture. */
  pointed?(cell: Cell | null): void;
}

export interface Cell {
  row: number;
  column: number;
}

export function mountCanvas(events: CanvasEvents): CanvasView {
  const canvas = el("canvas", { tabindex: 0, role: "application", class: "heatmap" });
  const ring = el("div", { class: "ring", hidden: true });
  const frame = el("div", { class: "heatmap-frame" }, canvas, ring);
  const ticks = mountTicks(frame);
  const status = el("p", { class: "cell-status", role: "status" });
  const foot = el("div", { class: "picture-foot" }, status);
  const dom = el("div", { class: "heatmap-view", hidden: true }, ticks.dom, foot);
  let now: Shown | null = null;
  let viewport: Viewport = { x: 0, y: 0, cellWidth: 1, cellHeight: 1 };
  let isFit = true;
  let cursor = { row: 0, column: 0 };

  const room = (): Size => ({ width: Math.max(frame.clientWidth, 1), height: Math.max(frame.clientHeight, 1) });
  const ratio = (): number => window.devicePixelRatio || 1;
  const middle = (): Point => ({ x: frame.clientWidth / 2, y: frame.clientHeight / 2 });

  const redraw = (): void => {
    if (!now) return;
    if (isFit) viewport = fitted(now.picture.grid, room(), ratio());
    drawPart(canvas, now.picture, viewport, room());
    ticks.show(now.picture.map, now.slice, viewport, room());
    if (!ring.hidden) ringTheCell();
  };
  const redrawSoon = perFrame(redraw);
  /** Change the viewport by hand; linked pictures of the same size follow. */
  const move = (next: Viewport | null): boolean => {
    if (!now || !next) return false;
    viewport = next;
    const fit = fitted(now.picture.grid, room(), ratio());
    isFit = viewport.cellWidth === fit.cellWidth && viewport.x === fit.x && viewport.y === fit.y;
    frame.classList.toggle("zoomed", !isFit);
    events.moved?.(viewport, isFit);
    redrawSoon();
    return true;
  };
  const zoom = (direction: 1 | -1, about: Point): boolean =>
    now !== null && move(zoomed(viewport, now.picture.grid, room(), ratio(), about, direction));
  const pan = (by: Point): void => {
    if (now) move(panned(viewport, now.picture.grid, room(), by));
  };
  const fit = (): void => {
    if (now) move(fitted(now.picture.grid, room(), ratio()));
  };
  const onePixel = (about: Point): void => {
    if (now) move(pixelForPixel(viewport, now.picture.grid, room(), ratio(), about));
  };
  /** Draw the ring around the cursor's cell and show its value. */
  const ringTheCell = (): void => {
    if (!now || now.picture.map.rows === 0) return;
    const { row, column } = cursor;
    ring.hidden = false;
    ring.style.left = `${viewport.x + column * viewport.cellWidth}px`;
    ring.style.top = `${viewport.y + row * viewport.cellHeight}px`;
    ring.style.width = `${Math.max(viewport.cellWidth, 3)}px`;
    ring.style.height = `${Math.max(viewport.cellHeight, 3)}px`;
    const text = cellText(now.picture, now.slice, now.tensor, row, column);
    if (status.textContent !== text) status.textContent = text;
  };
  const point = (): void => {
    ringTheCell();
    events.pointed?.(cursor);
  };
  const unpoint = (): void => {
    ring.hidden = true;
    events.pointed?.(null);
  };
  /** Move the cursor to the cell at a point; false if there is none. */
  const cellAt = ({ x, y }: Point): boolean => {
    if (!now) return false;
    const { rows, columns } = now.picture.map;
    const row = Math.floor((y - viewport.y) / viewport.cellHeight);
    const column = Math.floor((x - viewport.x) / viewport.cellWidth);
    if (row < 0 || column < 0 || row >= rows || column >= columns) return false;
    cursor = { row, column };
    point();
    return true;
  };
  mountGestures(frame, {
    zoom,
    pan,
    point: cellAt,
    click: (at) => {
      if (cellAt(at)) centre();
    },
    fit,
    canPan: () => !isFit,
    left: () => {
      if (document.activeElement !== canvas) unpoint();
    },
  });
  canvas.addEventListener("focus", point);
  canvas.addEventListener("blur", unpoint);

  /** Request a scale around the value of the cursor's cell. */
  const centre = (): void => {
    if (!now || now.picture.map.channels > 1) return;
    const value = now.picture.values[cursor.row * now.picture.map.columns + cursor.column] ?? NaN;
    if (Number.isFinite(value)) events.centre(value);
  };
  const cellMiddle = (): Point => ({
    x: viewport.x + (cursor.column + 0.5) * viewport.cellWidth,
    y: viewport.y + (cursor.row + 0.5) * viewport.cellHeight,
  });
  const reveal = (): void => {
    if (now && !isFit) move(showing(viewport, now.picture.grid, room(), cursor.row, cursor.column));
  };
  /** Keys zoom around the cursor's cell, which stays visible. */
  const COMMANDS: Record<string, () => void> = {
    "+": () => zoom(1, cellMiddle()),
    "=": () => zoom(1, cellMiddle()),
    "-": () => zoom(-1, cellMiddle()),
    "0": fit,
    "1": () => onePixel(cellMiddle()),
    c: centre,
    w: () => events.why?.(),
    Escape: events.reset,
  };
  canvas.addEventListener("keydown", (event) => {
    if (!now || event.ctrlKey || event.metaKey || event.altKey) return;
    const command = COMMANDS[event.key];
    const step = STEPS[event.key];
    if (!command && !step) return;
    event.preventDefault();
    if (command) {
      command();
      return reveal();
    }
    if (!step) return;
    if (event.shiftKey) {
      const [down, across] = step;
      pan({ x: -Math.sign(across) * PAN_PART * frame.clientWidth, y: -Math.sign(down) * PAN_PART * frame.clientHeight });
      return;
    }
    const { rows, columns } = now.picture.map;
    cursor = { row: within(cursor.row + step[0], rows), column: within(cursor.column + step[1], columns) };
    reveal();
    point();
  });
  new ResizeObserver(redrawSoon).observe(frame);
  const tools = el(
    "div",
    { class: "zoom", role: "group", "aria-label": "Picture" },
    button("−", () => zoom(-1, middle()), { class: "quiet", title: "Zoom out (−)", "aria-label": "Zoom out" }),
    button("+", () => zoom(1, middle()), { class: "quiet", title: "Zoom in (+)", "aria-label": "Zoom in" }),
    button("1:1", () => onePixel(middle()), { class: "quiet", title: "One pixel for each cell (1)", "aria-label": "1:1, one pixel for each cell" }),
    button("Fit", fit, { class: "quiet", title: "The whole picture (0)" }),
  );
  foot.append(tools);
  return {
    dom,
    tools,
    show: (picture, slice, tensor) => {
      const { rows, columns } = picture.map;
      const isSame = now?.tensor === tensor && now.picture.map.rows === rows && now.picture.map.columns === columns;
      if (now?.tensor !== tensor) cursor = { row: 0, column: 0 };
      if (!isSame) isFit = true;
      now = { picture, slice, tensor };
      dom.hidden = rows * columns === 0;
      if (dom.hidden) return;
      cursor = { row: within(cursor.row, rows), column: within(cursor.column, columns) };
      const kind = picture.map.channels > 1 ? "Picture in colour" : "Heat map";
      canvas.setAttribute("aria-label", `${kind} of ${tensor.name}, ${rows} by ${columns} cells; arrow keys move`);
      ring.hidden = document.activeElement !== canvas;
      if (ring.hidden && !isSame) status.textContent = events.moved ? "" : INVITATION;
      frame.classList.toggle("zoomed", !isFit);
      redraw();
    },
    goTo: (row, column) => {
      if (!now) return;
      const { rows, columns, blockRows, blockColumns } = now.picture.map;
      cursor = { row: within(Math.floor(row / blockRows), rows), column: within(Math.floor(column / blockColumns), columns) };
      reveal();
      canvas.focus();
      point();
    },
    follow: (next, isFitted) => {
      viewport = next;
      isFit = isFitted;
      frame.classList.toggle("zoomed", !isFit);
      redrawSoon();
    },
    cursor: () => cursor,
    pointAt: (cell) => {
      if (cell) cursor = { ...cell };
      if (cell) ringTheCell();
      else ring.hidden = true;
    },
    rescale: (scale) => {
      if (!now) return null;
      now.picture = repaint(now.picture, scale);
      redrawSoon();
      return now.picture;
    },
    clear: () => {
      now = null;
      dom.hidden = true;
    },
  };
}

/** The movement of the cursor by a key, in rows and columns. */
const STEPS: Record<string, readonly [number, number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

function within(value: number, length: number): number {
  return Math.min(Math.max(value, 0), length - 1);
}
