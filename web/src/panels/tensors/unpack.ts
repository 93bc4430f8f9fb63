/** Unpacks values that Python sends, as bytes or base64. */

import type { Encoding } from "../../page/protocol";

export type Values = Float32Array | Int32Array | Uint32Array | Float64Array;

const KINDS = {
  float32: Float32Array,
  int32: Int32Array,
  uint32: Uint32Array,
  float64: Float64Array,
} as const satisfies Record<Encoding, unknown>;

/** Return the values of bytes or base64, whose length has been validated. */
export function unpack(packed: string | Uint8Array, encoding: Encoding): Values {
  const bytes = typeof packed === "string" ? bytesOf(packed) : packed;
  return new KINDS[encoding](bytes.buffer as ArrayBuffer);
}

type FromBase64 = { fromBase64?(text: string): Uint8Array<ArrayBuffer> };

/** Decode base64; the browser's own decoder, where it exists, is ten times as fast. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const { fromBase64 } = Uint8Array as FromBase64;
  if (fromBase64) return fromBase64.call(Uint8Array, text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < characters.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/** Statistics of some values, computed in one pass. */
export interface Extent {
  /** The least and greatest finite values, zeros if there are none. */
  low: number;
  high: number;
  nans: number;
  infinities: number;
}

export function extentOf(values: Values): Extent {
  let [low, high, nans, infinities] = [Infinity, -Infinity, 0, 0];
  for (const value of values) {
    if (value - value !== 0) {
      if (value !== value) nans += 1;
      else infinities += 1;
      continue;
    }
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) [low, high] = [0, 0];
  return { low, high, nans, infinities };
}

/** Count the finite values in equal bins of a range. */
export function countInto(bins: number, values: Values, low: number, high: number): number[] {
  const counts = new Array<number>(bins).fill(0);
  const factor = high > low ? bins / (high - low) : 0;
  for (const value of values) {
    if (value - value !== 0 || value < low || value > high) continue;
    const bin = factor ? Math.min(Math.floor((value - low) * factor), bins - 1) : bins >> 1;
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return counts;
}
