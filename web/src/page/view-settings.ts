/** The view settings of a tensor, sufficient for another page to show the same view. */

import { count, flag, list, number, oneOf, orNull, record, refined, type Checked } from "./checks";

const MOST_AXES = 64;
const axis = orNull(count(MOST_AXES));

/** The ends of a scale; `diverging` scales are symmetric about their middle. */
const isBounds = refined(record({ low: number, high: number, diverging: flag }), ({ low, high }) => low < high);

/** Whether these are view settings; `fits` decides whether a tensor can have them. */
export const isViewSettings = record({
  /** The axes that are drawn. */
  axes: record({ rows: axis, columns: axis }),
  /** The index along each other axis. */
  index: list(count(), MOST_AXES),
  /** Null for the scale of the values. */
  scale: orNull(isBounds),
  /** Drawn as cells, as colours, as a curve, as an exact table, or with its storage. */
  mode: oneOf("cells", "colours", "curve", "table", "layout"),
});

export type Bounds = Checked<typeof isBounds>;
export type ViewSettings = Checked<typeof isViewSettings>;
export type Mode = ViewSettings["mode"];

/** Whether these view settings are valid for a tensor of this shape. */
export function fits({ axes, index, mode }: ViewSettings, shape: readonly number[], channels: number | null): boolean {
  const last = shape.length - 1;
  const needed = [last >= 1, last >= 0];
  const drawn = [axes.rows, axes.columns];
  const isAxis = drawn.every((one, i) => (one === null ? !needed[i] : one <= last));
  const isApart = axes.rows === null || axes.rows !== axes.columns;
  const isInside = index.length === shape.length && index.every((value, i) => value < Math.max(shape[i] ?? 0, 1));
  const isMixed = mode === "colours" && (channels === null || drawn.includes(channels));
  const isCurved = mode === "curve" && shape.length !== 1;
  return isAxis && isApart && isInside && !isMixed && !isCurved;
}
