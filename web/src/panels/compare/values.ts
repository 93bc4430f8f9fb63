/** The values of two runs that differ, bit by bit; loaded with the first comparison. */

import { button, el } from "../../parts/dom";
import { bytes, count, short } from "../../parts/format";
import type { Page } from "../../page/page";
import { MAIN } from "../../page/program";
import type { ValueComparison, ValueDifference } from "../../page/protocol";
import type { RunOrigin } from "../../page/view";
import { mountLitPicture } from "../why/lit-picture";

/** Room of the picture of a tensor's differences. */
const MAP = { width: 140, height: 72 };

/** The tensors whose values differ, the first line of them on top, each with a map of its differences. */
export function valuesSection(page: Page, origin: RunOrigin, found: ValueComparison): HTMLElement[] {
  const { isRetained, differences, same, leftOut, budget } = found;
  const head = el("h2", {}, "Values");
  const note = (text: string): HTMLElement => el("p", { class: "compare-note" }, text);
  if (!isRetained) return [head, note("The values of the run before were not retained. They are retained of every run that ends while this panel is open, so run once more.")];
  const rows = differences.map((one) => differenceRow(page, one));
  const titles = ["", "differ", "largest", "at", "before", "now", "where"].map((title) => el(title ? "th" : "td", title ? { scope: "col" } : {}, title));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...rows));
  const equal = `${count(same, "tensor")} ${same === 1 ? "is" : "are"} equal bit for bit.`;
  const first = firstLine(page, differences);
  const most = leftOut.length ? [note(`Not compared, because a run retains ${bytes(budget)} of values: ${leftOut.join(", ")}.`)] : [];
  const go = first && button(`The first line that differs is line ${first} →`, () => page.goTo(origin, first, 0), { class: "quiet" });
  const shown = rows.length ? [el("div", { class: "compare-table", tabindex: 0, role: "region", "aria-label": "Values" }, table)] : [];
  return [head, ...(go ? [el("p", {}, go)] : []), ...shown, note(equal), ...most];
}

/** The line of the program that first made a tensor that differs. */
function firstLine({ view }: Page, differences: readonly ValueDifference[]): number | null {
  for (const { tensor } of differences) {
    const [made] = view.tensors[tensor]?.lines ?? [];
    const line = made === undefined ? undefined : view.run?.lines[made];
    if (line?.file === MAIN) return line.line;
  }
  return null;
}

function differenceRow(page: Page, one: ValueDifference): HTMLElement {
  const { name, differing, size, largest, ulps, index, before, now, mask } = one;
  const tensor = page.view.tensors[one.tensor];
  const far = largest === null ? "not finite" : short(largest) + (ulps === null ? "" : `, ${short(ulps)} ULP`);
  const look = button(name, () => page.lookAt(one.tensor), { class: "jump", title: "Show it in Tensors" });
  const texts = [`${differing.toLocaleString("en-US")} of ${size.toLocaleString("en-US")}`, far, `[${index.join(", ")}]`, before, now];
  const map = tensor && mountLitPicture(page, tensor, [...index], { mask, count: differing }, () => page.lookAt(one.tensor), MAP);
  return el("tr", {}, el("th", { scope: "row" }, look), ...texts.map((text) => el("td", {}, text)), el("td", { class: "compare-map" }, map ?? ""));
}
