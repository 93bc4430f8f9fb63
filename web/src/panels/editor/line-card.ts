/** What a line made, in full: facts, range and a small picture, while a name still holds it. */

import type { Ghost } from "../../page/editor";
import { kernelSplits, splitLine } from "../../page/kernel-splits";
import type { Page } from "../../page/page";
import type { KernelSplit, LineResult, TensorRecord } from "../../page/protocol";
import { whyUnavailable } from "../../page/run-origin";
import { originLine } from "../../parts/nonfinite";
import { button, el } from "../../parts/dom";
import { count, short, tuple } from "../../parts/format";
import { mountSmallPictures } from "../tensors/small-pictures";
import { isPicture } from "../tensors/whole";

const ROOM = { width: 32, height: 32 };
/** Values between kernels that a card explains; the panel Kernels has all. */
const MOST_SPLITS = 3;

/** The tensor that still holds a result of a line; undefined if none does. */
export function tensorOf(page: Page, result: number): TensorRecord | undefined {
  const { tensors, origins } = page.view;
  if (origins.tensors?.run !== origins.run?.run) return undefined;
  return tensors.find(({ lines }) => lines?.includes(result));
}

export function lineCards(page: Page): (ghost: Ghost) => HTMLElement {
  const pictures = mountSmallPictures(page, "line-card-drawing", ROOM);
  const describe = (index: number): HTMLElement | null => {
    const made = page.view.run?.lines[index];
    if (!made) return null;
    const tensor = tensorOf(page, index);
    const picture = el("div", { class: "line-card-picture" });
    const facts = `${made.dtype} ${tuple(made.shape)} on ${made.device}${made.view ? ", a view" : ""}`;
    const times = made.count > 1 ? `, made ${count(made.count, "time")}${made.varies ? " in several shapes" : ""}` : "";
    const text = el("div", {}, el("p", {}, el("strong", {}, made.name || "result"), ` ${facts}${times}`));
    if (tensor) {
      const ask = (): void => page.why({ id: tensor.id, name: tensor.name, index: tensor.shape.map(() => 0) });
      text.append(el("p", {}, rangeOf(tensor)), button("Why?", ask, { class: "quiet", title: "Run the program once more, and show the arithmetic of the line" }));
      text.append(originLine(page, tensor) ?? "");
      if (isPicture(tensor) && !whyUnavailable(page.view, "tensors", "tensor", "picture")) pictures.into(picture, tensor);
    } else {
      text.append(el("p", { class: "muted" }, lost(made, page)));
      if (!isReading(page)) text.append(button("Show it as it was", () => page.film(made), { class: "quiet", title: "Run the program once more, and retain the values of each line" }));
    }
    return el("div", { class: "line-card-result" }, tensor ? picture : null, text);
  };
  return ({ results, kernels }) => {
    const of = kernels.length ? `Kernel${kernels.length > 1 ? "s" : ""} ${kernels.map((kernel) => kernel + 1).join(", ")}` : null;
    const splits = el("div", {});
    const isOwn = ({ writer, reader }: KernelSplit): boolean => kernels.includes(writer) || kernels.includes(reader);
    const explain = async (): Promise<void> => {
      const own = (await kernelSplits(page)).filter(isOwn);
      splits.append(...own.slice(0, MOST_SPLITS).map(splitLine));
      const more = own.length - MOST_SPLITS;
      if (more > 0) splits.append(el("p", { class: "muted" }, `${count(more, "more value")} between kernels`));
    };
    // Of an earlier run they are unknown.
    if (kernels.length) explain().catch(() => undefined);
    return el("div", { class: "line-card" }, ...results.map(describe), of && el("p", { class: "muted" }, of), splits);
  };
}

/** Show the tensor that a line made, as it was there if no name holds it any more. */
export function openResult(page: Page, { results }: Ghost): void {
  for (const index of [...results].reverse()) {
    const tensor = tensorOf(page, index);
    if (tensor) return page.lookAt(tensor.id);
  }
  const made = page.view.run?.lines[results.at(-1) ?? -1];
  if (!made) return;
  if (isReading(page)) page.notify({ kind: "info", text: lost(made, page) });
  else page.film(made);
}

function rangeOf({ min, max, mean, nan = 0, inf = 0, size, problem }: TensorRecord): string {
  if (problem) return problem;
  if (size === 0) return "no elements";
  if (min === undefined) return "";
  const bad = [nan ? `${nan.toLocaleString("en-US")} NaN` : "", inf ? `${inf.toLocaleString("en-US")} infinite` : ""];
  const range = min === null || max === undefined ? [] : [`from ${short(min)} to ${short(max)}, mean ${short(mean)}`];
  return [...range, ...bad.filter(Boolean)].join(", ");
}

function isReading({ view }: Page): boolean {
  return view.phase !== "idle" || view.origins.tensors?.run !== view.origins.run?.run;
}

/** Why the value of a result is not here. */
function lost({ name, function: inside }: LineResult, page: Page): string {
  if (isReading(page)) return "Its values are being read.";
  if (!name) return "No name holds this value any more.";
  return inside ? `“${name}” was local to ${inside}(), which has returned.` : `“${name}” was bound or changed again later.`;
}
