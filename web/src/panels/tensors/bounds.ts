/** Bounds of scales that readers choose: around a value, without outliers, dragged. */

import type { Scale } from "./colours";
import type { Values } from "./unpack";
import type { Bounds } from "../../page/view-settings";

/** The quantiles that bound a scale without outliers. */
const OUTLIERS = [0.01, 0.99] as const;
/** The fraction of all values inside the bounds around a chosen value. */
const NEAR = 0.9;
const MOST_SORTED = 1 << 16;

/** Apply bounds to a scale; the scale of a mask never changes. */
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

/** Bounds that omit the lowest and the highest hundredth; null for equal values. */
export function withoutOutliers(values: Values, { palette }: Scale): Bounds | null {
  const finite = sorted(values);
  const [low, high] = [quantile(finite, OUTLIERS[0]), quantile(finite, OUTLIERS[1])];
  if (palette === "diverging" && low < 0 && high > 0) {
    const limit = Math.max(-low, high);
    return { low: -limit, high: limit, diverging: true };
  }
  return low < high ? { low, high, diverging: false } : null;
}

/** Move one end of a scale; a diverging scale keeps its middle. Null if the scale becomes empty. */
export function moved({ low, high, palette }: Scale, end: "low" | "high", to: number): Bounds | null {
  if (palette === "diverging") {
    const middle = low / 2 + high / 2;
    const reach = end === "high" ? to - middle : middle - to;
    return reach > 0 ? { low: middle - reach, high: middle + reach, diverging: true } : null;
  }
  const next = end === "high" ? { low, high: to } : { low: to, high };
  return next.low < next.high ? { ...next, diverging: false } : null;
}

/** Finite values, sorted; of a large array a regular sample. */
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
