/** Two tensors and their difference side by side: one viewport, one cursor, two scales. */

import { button, el } from "../../parts/dom";
import { short, tuple } from "../../parts/format";
import type { Bounds } from "../../page/view-settings";
import type { Slice } from "../../page/messages";
import type { Heatmap, Pair } from "../../page/protocol";
import type { Scheme } from "../../page/media";
import { about, bounded } from "./bounds";
import { scaleOf, type Scale } from "./colours";
import { decodeHeatmap } from "./heatmap";
import type { Picture } from "./picture";
import { mountCanvas, type CanvasView } from "./heatmap-view";
import { mountScaleBar } from "./scale-bar";

export interface PairView {
  dom: HTMLElement;
  /** Draw the same slice of the first, the second and their difference. */
  show(pair: Pair, maps: readonly Heatmap[], slice: Omit<Slice, "tensor">, scheme: Scheme): void;
  /** Put the cursor on an element's cell. */
  goTo(row: number, column: number): void;
  recolour(scheme: Scheme): void;
}

/** Both tensors have one scale, their difference another. */
const SIDES = ["first", "second", "difference"] as const;

/** `jump` selects the element with the greatest difference. */
export function mountPair(jump: (index: readonly number[]) => void): PairView {
  const bounds: { values: Bounds | null; difference: Bounds | null } = { values: null, difference: null };
  let pictures: Picture[] = [];
  let scheme: Scheme = "light";

  const choose = (which: keyof typeof bounds, next: Bounds | null): void => {
    bounds[which] = next;
    rescale();
  };
  const others = (own: number): CanvasView[] => canvases.filter((_, side) => side !== own);
  const canvases: CanvasView[] = SIDES.map((side, own) => {
    const which = side === "difference" ? "difference" : "values";
    return mountCanvas({
      centre: (value) => {
        const values = pictures[own]?.values;
        if (values) choose(which, about(value, values) ?? bounds[which]);
      },
      reset: () => choose(which, null),
      moved: (viewport, isFit) => others(own).forEach((canvas) => canvas.follow(viewport, isFit)),
      pointed: (cell) => others(own).forEach((canvas) => canvas.pointAt(cell)),
    });
  });
  const bars = {
    values: mountScaleBar({ choose: (next) => choose("values", next), hold: () => undefined }),
    difference: mountScaleBar({ choose: (next) => choose("difference", next), hold: () => undefined }),
  };
  const facts = el("dl", { class: "facts" });
  const side = el("div", { class: "pair-side" }, bars.values.dom, bars.difference.dom, facts);
  const heads = SIDES.map(() => el("h3", { class: "pair-name" }));
  const frames = canvases.map((canvas, index) => el("div", { class: "pair-picture" }, heads[index], canvas.dom));
  const dom = el("div", { class: "viewer-pair" }, ...frames, side);

  /** The common scale of both tensors, and the scale of the difference. */
  const ownScales = (): { values: Scale; difference: Scale } | null => {
    const [a, b, less] = pictures;
    if (!a || !b || !less) return null;
    const [low, high] = [Math.min(a.extent.low, b.extent.low), Math.max(a.extent.high, b.extent.high)];
    const dtype = a.dtype === "bool" ? b.dtype : a.dtype;
    const reach = Math.max(-less.extent.low, less.extent.high, 0);
    const middle: Scale = { low: -reach, high: reach, palette: "diverging", scheme };
    return { values: scaleOf(low, high, dtype, scheme), difference: middle };
  };
  const rescale = (): void => {
    const own = ownScales();
    if (!own) return;
    const scales = { values: bounded(own.values, bounds.values), difference: bounded(own.difference, bounds.difference) };
    pictures = pictures.map((picture, index) => {
      const scale = SIDES[index] === "difference" ? scales.difference : scales.values;
      return canvases[index]?.rescale(scale) ?? picture;
    });
    for (const [which, index] of [["values", 0], ["difference", 2]] as const) {
      const picture = pictures[index];
      if (picture) bars[which].show(picture);
      if (picture) bars[which].count(picture.values, 1);
      bars[which].mark(bounds[which] !== null, false);
    }
  };
  const describe = ({ first, second, difference, differing, largest, index }: Pair): void => {
    const names = [first.name, second.name, difference.name];
    names.forEach((name, index) => heads[index]?.replaceChildren(name));
    const share = first.size > 0 ? (100 * differing) / first.size : 0;
    const largestOf = index && button(`${short(largest)} →`, () => jump(index), { class: "jump", "aria-label": `${short(largest)} →, go to the largest difference` });
    const rows: [string, string | HTMLElement][] = [
      ["differ", differing.toLocaleString("en-US")],
      ["of all", `${short(share)} %`],
      ["largest", largestOf ?? "none"],
      ["at", index ? `[${index.join(", ")}]` : "nowhere"],
      ["shape", tuple(first.shape)],
    ];
    facts.replaceChildren(...rows.map(([term, text]) => el("div", {}, el("dt", {}, term), el("dd", {}, text))));
  };
  let shown: Pair | null = null;
  return {
    dom,
    show: (pair, maps, slice, now) => {
      scheme = now;
      if (shown !== pair) bounds.values = bounds.difference = null;
      shown = pair;
      describe(pair);
      pictures = SIDES.flatMap((side, index) => {
        const map = maps[index];
        if (!map) return [];
        const picture = decodeHeatmap(map, pair[side].dtype, scheme);
        canvases[index]?.show(picture, { tensor: pair[side].id, ...slice }, pair[side]);
        return [picture];
      });
      rescale();
    },
    goTo: (row, column) => canvases[2]?.goTo(row, column),
    recolour: (now) => {
      scheme = now;
      rescale();
    },
  };
}
