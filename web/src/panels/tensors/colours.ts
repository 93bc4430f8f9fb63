/** Colours of values: sequential, diverging from the middle with blue above and red below,
 * two for masks. Notebooks have the first two as well (`tensorweb/display/summary.py`). */

import type { Scheme } from "../../page/media";

export type Colour = readonly [number, number, number];

/** Viridis in eleven stops (Smith and van der Walt, CC0), dark is low. */
const SEQUENTIAL: readonly Colour[] = [
  [68, 1, 84], [72, 36, 117], [65, 68, 135], [53, 95, 141], [42, 120, 142], [33, 145, 140],
  [34, 168, 132], [68, 191, 112], [122, 209, 81], [189, 223, 38], [253, 231, 37],
];

const DIVERGING: Record<Scheme, readonly Colour[]> = {
  light: [
    [112, 15, 35], [166, 38, 48], [207, 89, 82], [232, 152, 138], [246, 208, 199], [247, 247, 246],
    [200, 220, 238], [138, 184, 222], [77, 138, 198], [36, 92, 164], [16, 52, 116],
  ],
  dark: [
    [255, 170, 156], [243, 118, 104], [209, 74, 68], [152, 49, 50], [92, 38, 42], [37, 41, 49],
    [32, 58, 92], [36, 88, 146], [56, 125, 199], [104, 166, 235], [166, 208, 255],
  ],
};

/** False and True; between them the fraction of True in a block. */
const MASK: Record<Scheme, readonly Colour[]> = {
  light: [[226, 227, 221], [36, 92, 164]],
  dark: [[52, 58, 72], [104, 166, 235]],
};

/** The palette of one channel of a colour picture. */
const LIGHT: readonly Colour[] = [[0, 0, 0], [255, 255, 255]];

export type Palette = "sequential" | "diverging" | "mask" | "light";

/** The colour of a NaN. */
export const NAN_PIXEL: Colour = [255, 92, 240];

/** A mapping from values to colours; `low` and `high` are the ends of the legend. */
export interface Scale {
  low: number;
  high: number;
  palette: Palette;
  scheme: Scheme;
}

/** Make the scale of a heat map: symmetric about zero when values change sign. */
export function scaleOf(low: number, high: number, dtype: string, scheme: Scheme): Scale {
  if (dtype === "bool") return { low: 0, high: 1, palette: "mask", scheme };
  if (low >= 0 || high <= 0) return { low, high, palette: "sequential", scheme };
  const limit = Math.max(-low, high);
  return { low: -limit, high: limit, palette: "diverging", scheme };
}

function stopsOf({ palette, scheme }: Scale): readonly Colour[] {
  switch (palette) {
    case "sequential":
      return SEQUENTIAL;
    case "diverging":
      return DIVERGING[scheme];
    case "mask":
      return MASK[scheme];
    case "light":
      return LIGHT;
  }
}

/** The colour of a finite value; a scale of one value uses the middle colour. */
export function colourOf(value: number, scale: Scale): Colour {
  const span = scale.high - scale.low;
  const part = span > 0 ? (value - scale.low) / span : 0.5;
  return at(stopsOf(scale), part);
}

/** Interpolate between stops; `part` runs from 0 to 1. */
export function at(stops: readonly Colour[], part: number): Colour {
  const position = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const index = Math.min(Math.floor(position), stops.length - 2);
  const [from, to] = [stops[index], stops[index + 1]];
  if (!from || !to) return [128, 128, 128];
  const rest = position - index;
  const mix = (i: 0 | 1 | 2): number => Math.round(from[i] + (to[i] - from[i]) * rest);
  return [mix(0), mix(1), mix(2)];
}

/** The count of palette steps, finer than 8 bits can resolve. */
const STEPS = 1024;

/** The colours of a scale from low to high, packed as canvas pixels. */
export function paletteOf(scale: Scale): Uint32Array {
  const stops = stopsOf(scale);
  const palette = new Uint32Array(STEPS);
  for (let step = 0; step < STEPS; step++) palette[step] = packed(at(stops, step / (STEPS - 1)));
  return palette;
}

/** Pack a colour as a canvas pixel; all hosts of browsers are little-endian. */
export function packed([r, g, b]: Colour): number {
  return (255 << 24) | (b << 16) | (g << 8) | r;
}

/** Black or white, whichever reads better on a colour. */
export function inkOn([r, g, b]: Colour): string {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 140 ? "#000" : "#fff";
}
