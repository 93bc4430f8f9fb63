/** A picture of a slice, and pictures in colour: planes of red, green, blue and alpha become pixels. */

import { NAN_PIXEL, packed, type Scale } from "./colours";
import type { Extent, Values } from "./unpack";
import type { Grid } from "./viewport";
import type { Heatmap } from "../../page/protocol";
import type { Scheme } from "../../page/media";

/** A heat map whose values are unpacked, with a colour for each of them. */
export interface Picture {
  map: Heatmap;
  dtype: string;
  /** Row by row; of a picture in colour one channel after another. */
  values: Values;
  /** Of a colour picture without alpha. */
  extent: Extent;
  scale: Scale;
  grid: Grid;
  /** One pixel for each cell. */
  pixels: HTMLCanvasElement;
}

/** The count of colour channels; a fourth channel is alpha. */
const LIGHTS = 3;

/** The value of full brightness, by dtype. */
function fullOf(dtype: string): number {
  return dtype.startsWith("float") ? 1 : 255;
}

/** The values that the scale maps: all but alpha. */
export function shownOf({ map, values }: { map: Heatmap; values: Values }): Values {
  return values.subarray(0, LIGHTS * map.rows * map.columns);
}

/** The scale from no to full brightness; values in another range are scaled from least to greatest. */
export function lightScaleOf(low: number, high: number, dtype: string, scheme: Scheme): Scale {
  const full = fullOf(dtype);
  const isUsual = low >= 0 && high <= full && (full === 1 || high > 1);
  return { low: isUsual ? 0 : low, high: isUsual ? full : high, palette: "light", scheme };
}

/** Whether values were scaled to brightness. */
export function isScaled({ low, high }: Scale, dtype: string): boolean {
  return low !== 0 || high !== fullOf(dtype);
}

/** Mix the channels of each cell. */
export function paintChannels(pixels: Uint32Array, values: Values, dtype: string, { low, high }: Scale): void {
  const cells = pixels.length;
  const factor = high > low ? 255 / 2 / (high / 2 - low / 2) : 0;
  const light = (value: number): number => (factor ? within((value - low) * factor) : 255);
  const cover = 255 / fullOf(dtype);
  const hasAlpha = values.length > LIGHTS * cells;
  const nan = packed(NAN_PIXEL);
  for (let i = 0; i < cells; i++) {
    const [r, g, b] = [values[i] as number, values[cells + i] as number, values[2 * cells + i] as number];
    const a = hasAlpha ? (values[3 * cells + i] as number) * cover : 255;
    const sum = r + g + b + a;
    // Opposite infinities sum to NaN as well, so each channel is checked then.
    if (sum !== sum && (r !== r || g !== g || b !== b || a !== a)) pixels[i] = nan;
    else pixels[i] = ((within(a) << 24) | (light(b) << 16) | (light(g) << 8) | light(r)) >>> 0;
  }
}

function within(value: number): number {
  return value >= 255 ? 255 : value > 0 ? (value + 0.5) | 0 : 0;
}
