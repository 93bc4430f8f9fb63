/** Marks of special values and numbers, drawn into cells that are large enough. */

import { colourOf, inkOn, type Colour, type Scale } from "./colours";
import { exact, short } from "../../parts/format";
import type { Picture } from "./picture";

export interface Span {
  first: number;
  count: number;
}

/** Cells that are on a canvas, with their size in its pixels. */
export interface Seen {
  context: CanvasRenderingContext2D;
  picture: Picture;
  across: Span;
  down: Span;
  width: number;
  height: number;
  ratio: number;
}

const NAN_COLOUR: Colour = [0, 0, 0];
const NAN_INK = "#ff5cf0";
const LEAST_GLYPH = 6;
const LEAST_NUMBER = 27;
/** The smallest font, in pixels. */
const LEAST_TEXT = 7;
/** Integers of few digits fit into smaller cells. */
const LEAST_DIGIT = 13;
/** Size from which a cell shows both a number and a mark, the mark in its corner. */
const LEAST_CORNER = 18;

type Glyph = readonly string[];

/** Bitmaps of marks, row by row; the legend's text uses ✕ ∞ −∞ ▲ ▼. */
const GLYPHS = {
  nan: ["#...#", ".#.#.", "..#..", ".#.#.", "#...#"],
  infinity: [".#.#.", "#.#.#", ".#.#."],
  minusInfinity: ["....#.#.", "##.#.#.#", "....#.#."],
  above: ["..#..", ".###.", "#####"],
  below: ["#####", ".###.", "..#.."],
} as const satisfies Record<string, Glyph>;

/** The mark of a value, if it has one. */
function glyphOf(value: number, { low, high }: Scale): Glyph | null {
  if (value !== value) return GLYPHS.nan;
  if (value === Infinity) return GLYPHS.infinity;
  if (value === -Infinity) return GLYPHS.minusInfinity;
  if (value > high) return GLYPHS.above;
  return value < low ? GLYPHS.below : null;
}

/** How many finite values lie above and below a scale. */
export function countClipped({ values, scale, extent, map }: Picture): { above: number; below: number } {
  const counts = { above: 0, below: 0 };
  if (map.channels > 1 || (extent.low >= scale.low && extent.high <= scale.high)) return counts;
  for (const value of values) {
    if (value > scale.high && value !== Infinity) counts.above += 1;
    else if (value < scale.low && value !== -Infinity) counts.below += 1;
  }
  return counts;
}

/** Mark values that colours cannot show: NaN, infinities, values beyond the scale. */
export function drawMarks(seen: Seen): void {
  const { context, picture, width, height, ratio } = seen;
  const { extent, scale, map } = picture;
  const size = Math.min(width, height);
  const isOdd = extent.nans + extent.infinities > 0 || extent.low < scale.low || extent.high > scale.high;
  if (!isOdd || map.channels > 1 || size < LEAST_GLYPH * ratio) return;
  eachSeen(seen, (value, left, top) => {
    const glyph = glyphOf(value, scale);
    if (!glyph) return;
    const isNan = value !== value;
    if (isNan) {
      context.fillStyle = `rgb(${NAN_COLOUR.join(" ")})`;
      context.fillRect(left, top, Math.ceil(width), Math.ceil(height));
    }
    context.fillStyle = isNan ? NAN_INK : inkOn(colourOf(bounded(value, scale), scale));
    const across = glyph[0]?.length ?? 1;
    if (Number.isFinite(value) && size >= LEAST_CORNER * ratio) {
      const dot = Math.max(1, Math.floor(size / 28));
      dots(context, glyph, left + Math.floor(width) - (across + 1) * dot, top + dot, dot);
      return;
    }
    const dot = Math.floor(Math.min(width / (across + 1), height / (glyph.length + 1)));
    if (dot < 1) return;
    dots(context, glyph, left + ((width - across * dot) >> 1), top + ((height - glyph.length * dot) >> 1), dot);
  });
}

/** A finite value, or the end of the scale for an infinity. */
function bounded(value: number, { low, high }: Scale): number {
  return Math.min(Math.max(value, low), high);
}

function dots(context: CanvasRenderingContext2D, glyph: Glyph, left: number, top: number, dot: number): void {
  glyph.forEach((row, y) =>
    [...row].forEach((mark, x) => {
      if (mark === "#") context.fillRect(left + x * dot, top + y * dot, dot, dot);
    }),
  );
}

/** A value with as many digits as fit; a sign would else make a number too long for its cell. */
export function fitting(value: number, room: number): string {
  // Digits before the point are never rounded.
  const fewer = [3, 2, 1].filter((digits) => Math.abs(value) < 10 ** digits);
  const texts = [short(value), ...fewer.map((digits) => short(Number(value.toPrecision(digits))))];
  return texts.find(({ length }) => length <= room) ?? short(value);
}

/** Write values into cells that are large enough for them. */
export function drawNumbers(seen: Seen): void {
  const { context, picture, width, height, ratio } = seen;
  const isMask = picture.dtype === "bool" && picture.map.how === "each";
  const isWhole = picture.values instanceof Int32Array && !isMask;
  const least = isWhole ? LEAST_DIGIT : LEAST_NUMBER;
  if (picture.map.channels > 1 || Math.min(width, height) < least * ratio) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  eachSeen(seen, (value, left, top) => {
    if (!Number.isFinite(value)) return;
    const fewest = isWhole ? 1 : 3;
    const room = Math.floor(((width / ratio - 3) * 1.5) / LEAST_TEXT);
    const text = isMask ? exact(value, "bool") : isWhole ? short(value) : fitting(value, room);
    const size = Math.min(13, ((width / ratio - 3) * 1.5) / Math.max(text.length, fewest), height / ratio - 3);
    if (size < LEAST_TEXT) return;
    context.font = `${size * ratio}px ui-monospace, monospace`;
    context.fillStyle = inkOn(colourOf(bounded(value, picture.scale), picture.scale));
    context.fillText(text, left + width / 2, top + height / 2 + ratio);
  });
}

/** Call an action with each visible value and the corner of its cell. */
function eachSeen({ picture, across, down, width, height }: Seen, action: (value: number, left: number, top: number) => void): void {
  for (let row = 0; row < down.count; row++) {
    const start = (down.first + row) * picture.map.columns + across.first;
    for (let column = 0; column < across.count; column++) {
      action(picture.values[start + column] ?? NaN, Math.round(column * width), Math.round(row * height));
    }
  }
}
