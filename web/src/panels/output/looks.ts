/** What to look at after the run of an example: buttons that open a panel, a cell or a layout. */

import { planeOf } from "../tensors/axes";
import { button } from "../../parts/dom";
import type { Page } from "../../page/page";
import { tensorNamed } from "../../page/view";

/** `Model`, `Layout t`, `Why? result[3]`. */
const LOOK = /^(\S+)(?: (\w+)(?:\[([\d, ]+)\])?)?$/;

/** Return a button for each look; `tools/examples.py` has the form of their texts. */
export function lookButtons(page: Page, looks: readonly string[]): HTMLElement[] {
  return looks.map((text) => button(text, () => open(page, text), { class: "line-link" }));
}

function open(page: Page, text: string): void {
  const [, label, name = "", cell = ""] = LOOK.exec(text) ?? [];
  const { tensors } = page.view;
  if (label === "Why?") return page.why({ name, index: cell.split(",").filter(Boolean).map(Number) });
  const panel = page.panels.find((one) => one.label === label)?.id;
  if (panel) return page.show(panel);
  const tensor = tensorNamed(tensors, name);
  const shape = tensor?.shape ?? [];
  page.show("tensors");
  // The list anew, as after the run of a link.
  const viewSettings = { axes: planeOf(shape, null), index: shape.map(() => 0), scale: null, mode: "layout" as const };
  page.change({ tensor: tensor?.name ?? name, viewSettings, tensors: [...tensors] });
}
