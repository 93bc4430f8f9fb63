/** Paints cells into pixels and draws them on one canvas, exact to the device's pixels. */

import { NAN_PIXEL, packed, paletteOf, scaleOf, type Scale } from "./colours";
import { drawMarks, drawNumbers, type Span } from "./marks";
import { lightScaleOf, paintChannels, shownOf, type Picture } from "./picture";
import { extentOf, unpack, type Values } from "./unpack";
import { fitted, gridOf, type Viewport, type Size } from "./viewport";
import type { Heatmap } from "../../page/protocol";
import type { Scheme } from "../../page/media";

/** Cache of the last painted picture, since a card and the viewer often draw the same one. */
let painted: Picture | null = null;

export function decodeHeatmap(map: Heatmap, dtype: string, scheme: Scheme): Picture {
  if (painted?.map === map && painted.scale.scheme === scheme) return painted;
  const values = unpack(map.values, map.encoding);
  const extent = extentOf(shownOf({ map, values }));
  painted = paint({ map, dtype, values, extent }, ownScale({ map, dtype, extent }, scheme));
  return painted;
}

/** The scale of a picture's values. */
export function ownScale({ map, dtype, extent }: Pick<Picture, "map" | "dtype" | "extent">, scheme: Scheme): Scale {
  return (map.channels > 1 ? lightScaleOf : scaleOf)(extent.low, extent.high, dtype, scheme);
}

/** Repaint the values with another scale. */
export function repaint(picture: Picture, scale: Scale): Picture {
  return paint(picture, scale);
}

function paint({ map, dtype, values, extent }: Omit<Picture, "scale" | "grid" | "pixels">, scale: Scale): Picture {
  const pixels = document.createElement("canvas");
  pixels.width = Math.max(map.columns, 1);
  pixels.height = Math.max(map.rows, 1);
  if (values.length > 0) {
    const image = new ImageData(map.columns, map.rows);
    const colours = new Uint32Array(image.data.buffer);
    if (map.channels > 1) paintChannels(colours, values, dtype, scale);
    else colour(colours, values, scale);
    pixels.getContext("2d")?.putImageData(image, 0, 0);
  }
  const grid = gridOf(map.rows, map.columns, map.blockRows / map.blockColumns);
  return { map, dtype, values, extent, scale, grid, pixels };
}

/** Map each value to its colour in the scale's palette. */
function colour(pixels: Uint32Array, values: Values, scale: Scale): void {
  const palette = paletteOf(scale);
  const last = palette.length - 1;
  const { low, high } = scale;
  // The difference of two finite numbers may overflow; the difference of their halves does not.
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

/** Draw a full picture, scaled to the available room. */
export function drawWhole(canvas: HTMLCanvasElement, picture: Picture, room: Size): void {
  const ratio = window.devicePixelRatio || 1;
  const { grid } = picture;
  const viewport = fitted(grid, room, ratio);
  const frame = { width: grid.columns * viewport.cellWidth, height: grid.rows * viewport.cellHeight };
  drawPart(canvas, picture, { ...viewport, x: 0, y: 0 }, frame);
}

/**
 * Draw the visible part of a picture, and position the canvas there. It has one pixel for
 * each pixel of the screen, or one for each cell if cells are smaller.
 */
export function drawPart(canvas: HTMLCanvasElement, picture: Picture, viewport: Viewport, frame: Size): void {
  const ratio = window.devicePixelRatio || 1;
  const { columns, rows } = picture.grid;
  const across = span(viewport.x, viewport.cellWidth, columns, frame.width);
  const down = span(viewport.y, viewport.cellHeight, rows, frame.height);
  const width = Math.max(viewport.cellWidth * ratio, 1);
  const height = Math.max(viewport.cellHeight * ratio, 1);
  resize(canvas, Math.round(across.count * width), Math.round(down.count * height));
  canvas.style.width = lengthOf(across.count * viewport.cellWidth, canvas.width, ratio);
  canvas.style.height = lengthOf(down.count * viewport.cellHeight, canvas.height, ratio);
  // `transform` moves the picture without a new layout.
  canvas.style.transform = `translate(${viewport.x + across.first * viewport.cellWidth}px, ${viewport.y + down.first * viewport.cellHeight}px)`;
  canvas.classList.toggle("reduced", Math.min(viewport.cellWidth, viewport.cellHeight) * ratio < 1);
  const context = canvas.getContext("2d");
  if (!context || picture.values.length === 0) return;
  context.imageSmoothingEnabled = false;
  canvas.classList.toggle("see-through", picture.map.channels === 4);
  if (picture.map.channels === 4) context.clearRect(0, 0, canvas.width, canvas.height);
  const source = [across.first, down.first, across.count, down.count] as const;
  context.drawImage(picture.pixels, ...source, 0, 0, canvas.width, canvas.height);
  const cells = { context, picture, across, down, width, height, ratio };
  drawMarks(cells);
  drawNumbers(cells);
}

/** Round a CSS length to whole canvas pixels, so that no pixel is blurred. */
function lengthOf(length: number, pixels: number, ratio: number): string {
  return `${Math.abs(length * ratio - pixels) < 1 ? pixels / ratio : length}px`;
}

function resize(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = Math.max(width, 1);
  if (canvas.height !== height) canvas.height = Math.max(height, 1);
}

/** The cells along one axis that a frame shows. */
function span(start: number, size: number, length: number, room: number): Span {
  const first = Math.min(Math.max(0, Math.floor(-start / size)), length - 1);
  const end = Math.min(length, Math.ceil((room - start) / size - 1e-6));
  return { first, count: Math.max(1, end - first) };
}
