/** Tensors of one axis as a curve, and those of one element as a number. */

import type { ChartData } from "../../parts/chart";
import { exact } from "../../parts/format";
import type { TensorRecord } from "../../page/protocol";
import type { Scheme } from "../../page/media";
import type { Picture } from "./picture";
import type { Size } from "./viewport";

/** The drawing of a tensor outside the table mode. */
export type Drawing = "number" | "curve" | "cells";

/** Whether a tensor can be drawn as a curve. */
export function isLine({ shape, size, dtype }: Pick<TensorRecord, "shape" | "size" | "dtype">): boolean {
  return shape.length === 1 && size > 1 && dtype !== "bool";
}

/** The values of a one-axis picture over their indices; non-finite values are gaps. */
export function curveOf({ map, values }: Picture, title: string): ChartData {
  const columns = [...Array(map.columns).keys()];
  const x = columns.map((column) => column * map.blockColumns);
  const y = columns.map((column) => {
    const value = values[column] ?? NaN;
    return Number.isFinite(value) ? value : null;
  });
  return { title, kind: "lines", series: [{ name: "", x, y, count: map.fullColumns }] };
}

/** The exact text of a picture's only value. */
export function numberOf({ values, dtype }: Picture): string {
  return exact(values[0] ?? NaN, dtype);
}

/** The colours of a small curve, those of the first series of a chart. */
const INK: Record<Scheme, string> = { light: "#2f6fb8", dark: "#6aa9ef" };
/** The greatest height of a small curve, as a fraction of its width. */
const FLAT = 0.6;
const PEN = 1.5;

/** Draw a picture of one axis as a small curve. */
export function drawSmallCurve(canvas: HTMLCanvasElement, { values, extent, scale }: Picture, room: Size): void {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [room.width, Math.min(room.height, room.width * FLAT)];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  context.strokeStyle = INK[scale.scheme];
  context.lineWidth = PEN;
  context.lineJoin = context.lineCap = "round";
  const reach = extent.high / 2 - extent.low / 2;
  const across = (width - 2 * PEN) / Math.max(values.length - 1, 1);
  context.beginPath();
  let isDown = false;
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      isDown = false;
      return;
    }
    const part = reach > 0 ? (value / 2 - extent.low / 2) / reach : 0.5;
    const [x, y] = [PEN + index * across, height - PEN - part * (height - 2 * PEN)];
    if (isDown) context.lineTo(x, y);
    else context.moveTo(x, y);
    isDown = true;
  });
  context.stroke();
}
