/** The view settings of a tensor, sufficient for another page to show the same view. */

import { either, flag, list, number, oneOf, orNull, record, whole, type Check } from "./checks";

/** Its numbers as cells, mixed as colours, over their indices, or exact in a table. */
export type Mode = "cells" | "colours" | "curve" | "table";

/** Ends of a scale; `diverging` from its middle, else from end to end. */
export interface Bounds {
  low: number;
  high: number;
  diverging: boolean;
}

export interface TensorLook {
  /** The axes that are drawn. */
  axes: { rows: number | null; columns: number | null };
  /** Where it is cut along the others, an index for each axis. */
  index: number[];
  /** Null for the scale of the values. */
  scale: Bounds | null;
  mode: Mode;
}

const MOST_AXES = 64;
const axis = orNull(whole(MOST_AXES));

const BOUNDS: Check = (value) =>
  record<Bounds>({ low: number, high: number, diverging: flag })(value) && (value as Bounds).low < (value as Bounds).high;

/** Whether something from outside is a look; whether it fits a tensor is seen there. */
export const LOOK: Check = record<TensorLook>({
  axes: record<TensorLook["axes"]>({ rows: axis, columns: axis }),
  index: list(whole(), MOST_AXES),
  scale: either(oneOf(null), BOUNDS),
  mode: oneOf("cells", "colours", "curve", "table"),
});

/** Whether these view settings are valid for a tensor of this shape. */
export function fits({ axes, index, mode }: TensorLook, shape: readonly number[], channels: number | null): boolean {
  const last = shape.length - 1;
  const needed = [last >= 1, last >= 0];
  const drawn = [axes.rows, axes.columns];
  const isAxis = drawn.every((one, place) => (one === null ? !needed[place] : one <= last));
  const isApart = axes.rows === null || axes.rows !== axes.columns;
  const isInside = index.length === shape.length && index.every((value, place) => value < Math.max(shape[place] ?? 0, 1));
  const isMixed = mode === "colours" && (channels === null || drawn.includes(channels));
  const isCurved = mode === "curve" && shape.length !== 1;
  return isAxis && isApart && isInside && !isMixed && !isCurved;
}
