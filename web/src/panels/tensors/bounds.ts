/** Ends of scales that readers choose: about a value, without outliers, moved by hand. */

import type { Scale } from "./colours";
import type { Values } from "./unpack";
import type { Bounds } from "../../page/view-settings";

/** The parts of all values that lie below the ends of a scale without outliers. */
const OUTLIERS = [0.01, 0.99] as const;
/** The fraction of all values that is resolved around a chosen value. */
const NEAR = 0.9;
const MOST_SORTED = 1 << 16;

/** The scale that bounds make of the one of the values; masks have no other. */
export function bounded(scale: Scale, bounds: Bounds | null): Scale {
  if (!bounds || scale.palette === "mask") return scale;
  const { low, high, diverging } = bounds;
  const palette = scale.palette === "light" ? "light" : diverging ? "diverging" : "sequential";
  return { low, high, palette, scheme: scale.scheme };
}

/** Bounds around a value, narrow enough to resolve its neighbours; null for equal values. */
export function about(value: number, values: Values): Bounds | null {
  const distances = sorted(values).map((other) => Math.abs(other - value)).sort();
  const reach = quantile(distances, NEAR) || (distances.at(-1) ?? 0);
  return reach > 0 && Number.isFinite(value) ? { low: value - reach, high: value + reach, diverging: true } : null;
}

/** Bounds that leave the least and the greatest one in hundred out; null for equal values. */
export function withoutOutliers(values: Values, { palette }: Scale): Bounds | null {
  const finite = sorted(values);
  const [low, high] = [quantile(finite, OUTLIERS[0]), quantile(finite, OUTLIERS[1])];
  if (palette === "diverging" && low < 0 && high > 0) {
    const limit = Math.max(-low, high);
    return { low: -limit, high: limit, diverging: true };
  }
  return low < high ? { low, high, diverging: false } : null;
}

/** Move one end of a scale; one that diverges keeps its middle. Null where none is left. */
export function moved({ low, high, palette }: Scale, end: "low" | "high", to: number): Bounds | null {
  if (palette === "diverging") {
    const middle = low / 2 + high / 2;
    const reach = end === "high" ? to - middle : middle - to;
    return reach > 0 ? { low: middle - reach, high: middle + reach, diverging: true } : null;
  }
  const next = end === "high" ? { low, high: to } : { low: to, high };
  return next.low < next.high ? { ...next, diverging: false } : null;
}

/** Finite values in order; of many some with an even step. */
function sorted(values: Values): Float64Array {
  const step = Math.max(1, Math.ceil(values.length / MOST_SORTED));
  const some: number[] = [];
  for (let i = 0; i < values.length; i += step) {
    const value = values[i] as number;
    if (Number.isFinite(value)) some.push(value);
  }
  return Float64Array.from(some).sort();
}

function quantile(ordered: Float64Array, part: number): number {
  return ordered[Math.round(part * (ordered.length - 1))] ?? 0;
}
