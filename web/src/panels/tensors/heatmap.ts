/** Draws cells on one canvas, exact to the device's pixels; marks NaN and infinities. */

import { colourOf, inkOn, scaleOf, type Colour, type Scale } from "./colours";
import { short } from "../../parts/format";
import type { Heatmap } from "../../page/protocol";
import type { Scheme } from "../../page/media";

/** A heat map whose values are unpacked. */
export interface Picture {
  map: Heatmap;
  values: Float64Array;
  scale: Scale;
}

/** Sizes of a drawing in CSS pixels. */
export interface Drawing {
  cellWidth: number;
  cellHeight: number;
}

const NAN_COLOUR: Colour = [0, 0, 0];
const NAN_INK = "#ff5cf0";
const LEAST_GLYPH = 6;
const LEAST_NUMBER = 27;
const THIN = 28;

/** Marks of five by five dots, row by row. */
const GLYPHS = {
  nan: ["#...#", ".#.#.", "..#..", ".#.#.", "#...#"],
  inf: [".###.", "..#..", "..#..", "..#..", ".###."],
  minusInf: ["...##", "....#", "##..#", "....#", "...##"],
} as const;

export function decodeHeatmap(map: Heatmap, scheme: Scheme): Picture {
  const text = atob(map.values);
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const values = new Float64Array(bytes.buffer);
  return { map, values, scale: scaleOf(map.low, map.high, map.diverging, scheme) };
}

/** The colour of any value, the ends of the scale for infinities. */
export function cellColour(value: number, scale: Scale): Colour {
  if (Number.isNaN(value)) return NAN_COLOUR;
  if (value === Infinity) return colourOf(scale.high, scale);
  if (value === -Infinity) return colourOf(scale.low, scale);
  return colourOf(value, scale);
}

/** The room that a drawing may take, in CSS pixels. */
export interface Room {
  width: number;
  height: number;
  largestCell: number;
}

/** Draw a picture as large as its room allows; cells are whole device pixels. */
export function draw(canvas: HTMLCanvasElement, picture: Picture, room: Room): Drawing {
  const { rows, columns } = picture.map;
  const ratio = window.devicePixelRatio || 1;
  const { cellWidth, cellHeight } = cellSize(picture.map, room, ratio);
  canvas.width = Math.max(columns * cellWidth, 1);
  canvas.height = Math.max(rows * cellHeight, 1);
  canvas.style.width = `${canvas.width / ratio}px`;
  canvas.style.height = `${canvas.height / ratio}px`;
  const context = canvas.getContext("2d");
  if (!context || rows * columns === 0) return { cellWidth: 1, cellHeight: 1 };
  drawCells(context, picture);
  drawMarks(context, picture, cellWidth, cellHeight);
  if (Math.min(cellWidth, cellHeight) >= LEAST_NUMBER * ratio) {
    drawNumbers(context, picture, cellWidth, cellHeight, ratio);
  }
  return { cellWidth: cellWidth / ratio, cellHeight: cellHeight / ratio };
}

/** Device pixels per cell; a cell has the shape of its block unless that is extreme. */
function cellSize(map: Heatmap, room: Room, ratio: number): Drawing {
  const block = map.blockRows / map.blockColumns;
  const aspect = block >= 1 / 3 && block <= 3 ? block : 1;
  const thin = Math.round(THIN * ratio);
  const width = (room.width * ratio) / Math.max(map.columns, 1);
  const height = (room.height * ratio) / Math.max(map.rows, 1);
  const largest = room.largestCell * ratio;
  const whole = (size: number): number => Math.max(1, Math.floor(size));
  if (map.rows === 1) {
    const cellWidth = whole(Math.min(width, largest));
    return { cellWidth, cellHeight: Math.max(cellWidth, thin) };
  }
  if (map.columns === 1) {
    const cellHeight = whole(Math.min(height, largest));
    return { cellWidth: Math.max(cellHeight, thin), cellHeight };
  }
  if (aspect >= 1) {
    const cellWidth = whole(Math.min(width, height / aspect, largest / aspect));
    return { cellWidth, cellHeight: Math.round(cellWidth * aspect) };
  }
  const cellHeight = whole(Math.min(height, width * aspect, largest * aspect));
  return { cellWidth: Math.round(cellHeight / aspect), cellHeight };
}

/** Put one pixel per cell on a small canvas and enlarge it without smoothing. */
function drawCells(context: CanvasRenderingContext2D, { map, values, scale }: Picture): void {
  const small = document.createElement("canvas");
  small.width = map.columns;
  small.height = map.rows;
  const image = new ImageData(map.columns, map.rows);
  values.forEach((value, index) => {
    const [r, g, b] = cellColour(value, scale);
    image.data.set([r, g, b, 255], index * 4);
  });
  small.getContext("2d")?.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, context.canvas.width, context.canvas.height);
}

function drawMarks(
  context: CanvasRenderingContext2D,
  { map, values, scale }: Picture,
  width: number,
  height: number,
): void {
  const dot = Math.floor(Math.min(width, height) / 7);
  values.forEach((value, index) => {
    if (Number.isFinite(value)) return;
    const left = (index % map.columns) * width;
    const top = Math.floor(index / map.columns) * height;
    context.fillStyle = Number.isNaN(value) ? NAN_INK : inkOn(cellColour(value, scale));
    if (Math.min(width, height) < LEAST_GLYPH || dot < 1) {
      if (Number.isNaN(value)) context.fillRect(left, top, width, height);
      return;
    }
    const rows = Number.isNaN(value) ? GLYPHS.nan : value > 0 ? GLYPHS.inf : GLYPHS.minusInf;
    const x0 = left + Math.floor((width - 5 * dot) / 2);
    const y0 = top + Math.floor((height - 5 * dot) / 2);
    rows.forEach((row, y) =>
      [...row].forEach((mark, x) => {
        if (mark === "#") context.fillRect(x0 + x * dot, y0 + y * dot, dot, dot);
      }),
    );
  });
}

/** Write values into cells that are large enough for them. */
function drawNumbers(
  context: CanvasRenderingContext2D,
  { map, values, scale }: Picture,
  width: number,
  height: number,
  ratio: number,
): void {
  context.textAlign = "center";
  context.textBaseline = "middle";
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) return;
    const text = short(value);
    const size = Math.min(13, ((width / ratio) * 1.5) / Math.max(text.length, 3));
    if (size < 7) return;
    context.font = `${size * ratio}px ui-monospace, monospace`;
    context.fillStyle = inkOn(cellColour(value, scale));
    const x = ((index % map.columns) + 0.5) * width;
    const y = (Math.floor(index / map.columns) + 0.5) * height;
    context.fillText(text, x, y + ratio);
  });
}

/** Draw the legend's bar from low to high. */
export function drawLegend(canvas: HTMLCanvasElement, scale: Scale): void {
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  if (!context) return;
  for (let x = 0; x < 256; x++) {
    const value = scale.low + ((scale.high - scale.low) * x) / 255;
    const [r, g, b] = colourOf(value, scale);
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.fillRect(x, 0, 1, 1);
  }
}
