/** Facts of one tensor in words: one line, and a list next to its picture. */

import { button, el } from "../../parts/dom";
import { count, short, tuple } from "../../parts/format";
import { originText } from "../../parts/nonfinite";
import { isComplex } from "./cell-text";
import type { Extent } from "./unpack";
import type { Extreme, TensorRecord } from "../../page/protocol";

/** `float32 (2, 3) on webgpu`. */
export function typeOf({ dtype, shape, device }: TensorRecord): string {
  return device ? `${dtype} ${tuple(shape)} on ${device}` : `${dtype} ${tuple(shape)}`;
}

/** The greatest count of facts, so that the layout around the list does not move. */
const MOST_FACTS = 8;

/** Warnings such as `1 NaN`; the tooltip names the origin of the first one. */
export function flags({ nan = 0, inf = 0, problem, origins = [] }: TensorRecord): HTMLElement[] {
  const texts = [];
  if (nan > 0) texts.push(`${nan.toLocaleString("en-US")} NaN`);
  if (inf > 0) texts.push(`${inf.toLocaleString("en-US")} Inf`);
  if (problem) texts.push("no values");
  return texts.map((text) => el("span", { class: "flag", title: originText(origins) || null }, text));
}

/** The facts of a tensor, as terms and descriptions. */
export function factList(tensor: TensorRecord, jump: (what: Extreme) => void): HTMLElement[] {
  const { min, max, mean, nan = 0, inf = 0, size } = tensor;
  const rows: [string, string][] = [];
  if (max !== undefined && tensor.dtype === "bool" && size > 1) {
    const trues = Math.round((mean ?? 0) * size);
    rows.push(["True", trues.toLocaleString("en-US")], ["False", (size - trues).toLocaleString("en-US")]);
    rows.push(["share of True", short(mean)]);
  } else if (max !== undefined) {
    const what = isComplex(tensor.dtype) ? SIZE : "";
    if (min === max && max !== null) rows.push([size > 1 ? `all${what && `${what}s`}` : what.trim() || "value", short(max)]);
    else rows.push([`largest${what}`, short(max)], [`smallest${what}`, short(min)], [`mean${what}`, short(mean)]);
    rows.push(["NaN", nan.toLocaleString("en-US")], ["infinite", inf.toLocaleString("en-US")]);
  }
  rows.push(["elements", size.toLocaleString("en-US")]);
  rows.push(["strides", tuple(tensor.strides)]);
  rows.push(["layout", layoutOf(tensor)]);
  return padded(rows).map(([term, text]) => {
    const isThere = !COUNTS.includes(term) || text !== "0";
    const what = size > 1 && isThere ? JUMPS[term.replace(SIZE, "")] : undefined;
    const node = what
      ? button(`${text} →`, () => jump(what), { class: "jump", title: `Go to the ${WORDS[what]}`, "aria-label": `${text} →, go to the ${WORDS[what]}` })
      : text;
    return el("div", { title: term && `${term}: ${text}` }, el("dt", {}, term), el("dd", {}, node));
  });
}

/** `contiguous`, `view of t, offset 4`. */
function layoutOf({ contiguous, viewOf, offset }: TensorRecord): string {
  const layout = viewOf === null ? (contiguous ? "contiguous" : "strided") : `view of ${viewOf}`;
  return offset ? `${layout}, offset ${offset}` : layout;
}

/** Pad the list with empty rows to its greatest length. */
function padded(rows: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  const missing = Math.max(0, MOST_FACTS - rows.length);
  return [...rows, ...Array.from({ length: missing }, () => ["", ""] as const)];
}

/** The suffix for complex numbers, whose facts are of absolute values. */
const SIZE = " size";

/** Facts with the index of an element. */
const JUMPS: Record<string, Extreme> = { largest: "max", smallest: "min", NaN: "nan", infinite: "inf", True: "max", False: "min" };

/** Facts that are counts: a count of 0 has no index. */
const COUNTS: readonly string[] = ["NaN", "infinite", "True", "False"];

const WORDS: Record<Extreme, string> = { max: "largest value", min: "smallest value", nan: "first NaN", inf: "first infinity" };

/** Facts computed from a picture: nothing else is requested while a program runs. */
export function pictureFacts({ low, high, nans, infinities }: Extent, step: number): HTMLElement[] {
  const number = (count: number): string => count.toLocaleString("en-US");
  return listOf([
    ["shown", `${number(step)} ×`],
    ["largest", short(high)],
    ["smallest", short(low)],
    ["NaN", number(nans)],
    ["infinite", number(infinities)],
  ]);
}

function listOf(rows: readonly (readonly [string, string])[]): HTMLElement[] {
  return padded(rows).map(([term, text]) => el("div", {}, el("dt", {}, term), el("dd", {}, text)));
}

/** The range and mean of a tensor, or why there is none. */
export function rangeOf(tensor: TensorRecord): string {
  if (tensor.problem) return tensor.problem;
  const { size, min, max, mean } = tensor;
  const ofSizes = isComplex(tensor.dtype);
  if (size === 0) return "no elements";
  if (min === undefined || min === null) return count(size, "element");
  if (size === 1) return `${ofSizes ? "size" : "value"} ${short(mean)}`;
  if (min === max) return `all ${ofSizes ? "sizes " : ""}${short(min)}`;
  return `${ofSizes ? "sizes " : ""}${short(min)} … ${short(max)} · mean ${short(mean)}`;
}
