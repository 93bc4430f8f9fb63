/** Draws cells on one canvas, exact to the device's pixels; marks NaN and infinities. */

import { colourOf, inkOn, packed, paletteOf, scaleOf, type Colour, type Scale } from "./colours";
import { short } from "../../parts/format";
import { extentOf, unpack, type Extent, type Values } from "./unpack";
import { fitted, gridOf, type Grid, type Place, type Size } from "./viewport";
import type { Heatmap } from "../../page/protocol";
import type { Scheme } from "../../page/media";

/** A heat map whose values are unpacked, with a colour for each of them. */
export interface Picture {
  map: Heatmap;
  values: Values;
  extent: Extent;
  scale: Scale;
  grid: Grid;
  /** One pixel for each cell. */
  pixels: HTMLCanvasElement;
}

const NAN_COLOUR: Colour = [0, 0, 0];
const NAN_INK = "#ff5cf0";
const NAN_PIXEL: Colour = [255, 92, 240];
const LEAST_GLYPH = 6;
const LEAST_NUMBER = 27;
/** Whole numbers of few digits are written into smaller cells. */
const LEAST_DIGIT = 13;

/** Marks of five by five dots, row by row. */
const GLYPHS = {
  nan: ["#...#", ".#.#.", "..#..", ".#.#.", "#...#"],
  inf: [".###.", "..#..", "..#..", "..#..", ".###."],
  minusInf: ["...##", "....#", "##..#", "....#", "...##"],
} as const;

/** The picture that was painted last: a card and the viewer draw the same one in turn. */
let painted: Picture | null = null;

export function decodeHeatmap(map: Heatmap, scheme: Scheme): Picture {
  if (painted?.map === map && painted.scale.scheme === scheme) return painted;
  const values = unpack(map.values, map.encoding);
  const extent = extentOf(values);
  const { low, high } = extent;
  painted = paint(map, values, extent, scaleOf(low, high, low < 0 && high > 0, scheme));
  return painted;
}

/** The same values in other colours. */
export function repaint({ map, values, extent }: Picture, scale: Scale): Picture {
  return paint(map, values, extent, scale);
}

function paint(map: Heatmap, values: Values, extent: Extent, scale: Scale): Picture {
  const pixels = document.createElement("canvas");
  pixels.width = Math.max(map.columns, 1);
  pixels.height = Math.max(map.rows, 1);
  if (values.length > 0) {
    const image = new ImageData(map.columns, map.rows);
    colour(new Uint32Array(image.data.buffer), values, scale);
    pixels.getContext("2d")?.putImageData(image, 0, 0);
  }
  const grid = gridOf(map.rows, map.columns, map.blockRows / map.blockColumns);
  return { map, values, extent, scale, grid, pixels };
}

/** Look the colour of each value up in the scale's palette. */
function colour(pixels: Uint32Array, values: Values, scale: Scale): void {
  const palette = paletteOf(scale);
  const last = palette.length - 1;
  const { low, high } = scale;
  // The difference of two finite numbers may be infinite, that of halves not.
  const factor = high > low ? last / 2 / (high / 2 - low / 2) : 0;
  const middle = palette[last >> 1] ?? 0;
  const nan = packed(NAN_PIXEL);
  for (let i = 0; i < pixels.length; i++) {
    const value = values[i] as number;
    const step = (value - low) * factor;
    if (value !== value) pixels[i] = nan;
    else if (step >= last) pixels[i] = palette[last] as number;
    else if (step <= 0 && factor > 0) pixels[i] = palette[0] as number;
    else pixels[i] = factor > 0 ? (palette[(step + 0.5) | 0] as number) : middle;
  }
}

/** The colour of any value, the ends of the scale for infinities. */
export function cellColour(value: number, scale: Scale): Colour {
  if (Number.isNaN(value)) return NAN_COLOUR;
  if (value === Infinity) return colourOf(scale.high, scale);
  if (value === -Infinity) return colourOf(scale.low, scale);
  return colourOf(value, scale);
}

/** Draw a whole picture as large as some room allows. */
export function drawWhole(canvas: HTMLCanvasElement, picture: Picture, room: Size): void {
  const ratio = window.devicePixelRatio || 1;
  const { grid } = picture;
  const place = fitted(grid, room, ratio);
  const frame = { width: grid.columns * place.cellWidth, height: grid.rows * place.cellHeight };
  drawPart(canvas, picture, { ...place, x: 0, y: 0 }, frame);
}

/**
 * Draw what a frame shows of a picture, and lay the canvas there. Its pixels are those of
 * the screen, and one for each cell where cells are smaller.
 */
export function drawPart(canvas: HTMLCanvasElement, picture: Picture, place: Place, frame: Size): void {
  const ratio = window.devicePixelRatio || 1;
  const { columns, rows } = picture.grid;
  const across = span(place.x, place.cellWidth, columns, frame.width);
  const down = span(place.y, place.cellHeight, rows, frame.height);
  const width = place.cellWidth * ratio < 1 ? 1 : Math.round(place.cellWidth * ratio);
  const height = place.cellHeight * ratio < 1 ? 1 : Math.round(place.cellHeight * ratio);
  resize(canvas, across.count * width, down.count * height);
  canvas.style.width = `${across.count * place.cellWidth}px`;
  canvas.style.height = `${down.count * place.cellHeight}px`;
  canvas.style.left = `${place.x + across.first * place.cellWidth}px`;
  canvas.style.top = `${place.y + down.first * place.cellHeight}px`;
  canvas.classList.toggle("reduced", Math.min(place.cellWidth, place.cellHeight) * ratio < 1);
  const context = canvas.getContext("2d");
  if (!context || picture.values.length === 0) return;
  context.imageSmoothingEnabled = false;
  const source = [across.first, down.first, across.count, down.count] as const;
  context.drawImage(picture.pixels, ...source, 0, 0, canvas.width, canvas.height);
  const cells: Seen = { context, picture, across, down, width, height, ratio };
  drawMarks(cells);
  drawNumbers(cells);
}

function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = Math.max(width, 1);
  if (canvas.height !== height) canvas.height = Math.max(height, 1);
}

interface Span {
  first: number;
  count: number;
}

/** The cells along one axis that a frame shows. */
function span(start: number, size: number, length: number, room: number): Span {
  const first = Math.min(Math.max(0, Math.floor(-start / size)), length - 1);
  const end = Math.min(length, Math.ceil((room - start) / size - 1e-6));
  return { first, count: Math.max(1, end - first) };
}

/** Cells that are on a canvas, with their size in its pixels. */
interface Seen {
  context: CanvasRenderingContext2D;
  picture: Picture;
  across: Span;
  down: Span;
  width: number;
  height: number;
  ratio: number;
}

/** Call an action with each value that is seen and the corner of its cell. */
function eachSeen({ picture, across, down, width, height }: Seen, action: (value: number, left: number, top: number) => void): void {
  for (let row = 0; row < down.count; row++) {
    const start = (down.first + row) * picture.map.columns + across.first;
    for (let column = 0; column < across.count; column++) {
      action(picture.values[start + column] ?? NaN, column * width, row * height);
    }
  }
}

function drawMarks(seen: Seen): void {
  const { context, picture, width, height, ratio } = seen;
  const { nans, infinities } = picture.extent;
  const dot = Math.floor(Math.min(width, height) / 7);
  if (nans + infinities === 0 || Math.min(width, height) < LEAST_GLYPH * ratio || dot < 1) return;
  eachSeen(seen, (value, left, top) => {
    if (Number.isFinite(value)) return;
    if (Number.isNaN(value)) {
      context.fillStyle = `rgb(${NAN_COLOUR.join(" ")})`;
      context.fillRect(left, top, width, height);
    }
    context.fillStyle = Number.isNaN(value) ? NAN_INK : inkOn(cellColour(value, picture.scale));
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
function drawNumbers(seen: Seen): void {
  const { context, picture, width, height, ratio } = seen;
  const isWhole = picture.values instanceof Int32Array;
  const least = isWhole ? LEAST_DIGIT : LEAST_NUMBER;
  if (Math.min(width, height) < least * ratio) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  eachSeen(seen, (value, left, top) => {
    if (!Number.isFinite(value)) return;
    const text = short(value);
    const fewest = isWhole ? 1 : 3;
    const size = Math.min(13, (width / ratio - 3) * 1.5 / Math.max(text.length, fewest), height / ratio - 3);
    if (size < 7) return;
    context.font = `${size * ratio}px ui-monospace, monospace`;
    context.fillStyle = inkOn(cellColour(value, picture.scale));
    context.fillText(text, left + width / 2, top + height / 2 + ratio);
  });
}
