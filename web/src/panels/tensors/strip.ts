/** The strip: displays and tensors of the run as thumbnails in a row; one is selected. */

import { el } from "../../parts/dom";
import { shapeOf, type Entry } from "./entries";
import { faceOf, type Exhibit } from "./exhibits";
import { rangeOf, typeOf } from "./facts";
import { mountSmallPictures } from "./small-pictures";
import { isPicture } from "./whole";
import type { Page } from "../../page/page";
import { short } from "../../parts/format";
import { originText } from "../../parts/nonfinite";
import type { TensorRecord } from "../../page/protocol";
import type { Scheme } from "../../page/media";

export interface Strip {
  dom: HTMLElement;
  /** List the entries of tensors and other displays, the selected kind first. */
  show(entries: readonly Entry[], exhibits: readonly Exhibit[], first: Entry | Exhibit | null): void;
  /** Show a placeholder where the list will be. */
  expect(): void;
  choose(entry: Entry | Exhibit): void;
  /** Scroll to the chosen one. */
  reveal(): void;
  recolour(scheme: Scheme): void;
}

const ROOM = { width: 60, height: 60 };

export function mountStrip(page: Page, pick: (entry: Entry | Exhibit) => void): Strip {
  const dom = el("ul", { class: "tensor-list", "aria-label": "Tensors of the run" });
  const pictures = mountSmallPictures(page, "thumb", ROOM);
  let buttons = new Map<string, HTMLButtonElement>();
  let listed: readonly unknown[] = [];

  const current = (): HTMLElement | null => dom.querySelector("[aria-current='true']");
  dom.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const all = [...buttons.values()];
    const next = step ? all[all.indexOf(document.activeElement as HTMLButtonElement) + step] : null;
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.click();
  });
  const item = (one: Entry | Exhibit): HTMLLIElement => {
    const face = el("span", { class: "face" });
    const [title, about, flag] = "tensors" in one ? wordsOf(one) : [`${one.kind} ${one.name}`, one.kind, null];
    const node = el(
      "button",
      { type: "button", class: "tensor", title },
      face,
      el("span", { class: "tensor-name" }, one.name),
      el("span", { class: "tensor-type" }, about),
      flag,
    );
    if (!("tensors" in one)) face.append(faceOf(one));
    else if (isPicture(one.shown)) pictures.into(face, one.shown);
    else face.textContent = one.shown.problem ? "?" : one.shown.size === 0 ? "∅" : short(one.shown.mean);
    node.addEventListener("click", () => pick(one));
    buttons.set(keyOf(one), node);
    return el("li", {}, node);
  };
  return {
    dom,
    show: (entries, exhibits, first) => {
      const all = [...exhibits, ...entries];
      const ordered = first ? [first, ...all.filter((one) => one !== first)] : all;
      // Elements of an unchanged list are reused, so that a click hits the visible one.
      if (listed.length === ordered.length && ordered.every((one, index) => one === listed[index])) return;
      listed = ordered;
      buttons = new Map();
      dom.replaceChildren(...ordered.flatMap((one) => [item(one), ...("tensors" in one ? cutNotes(one) : [])]));
      dom.scrollLeft = 0;
    },
    expect: () => {
      buttons = new Map();
      listed = [];
      dom.replaceChildren(el("li", { class: "list-cut" }, "All tensors are listed here once the program has ended."));
    },
    choose: (chosen) => {
      for (const [key, node] of buttons) {
        node.setAttribute("aria-current", String(key === keyOf(chosen)));
        node.tabIndex = key === keyOf(chosen) ? 0 : -1;
      }
    },
    reveal: () => bringIntoView(dom, current()),
    recolour: pictures.recolour,
  };
}

function keyOf(one: Entry | Exhibit): string {
  return "tensors" in one ? `tensor ${one.name}` : `display ${one.display}`;
}

/** An entry's tooltip, shape and flag. */
function wordsOf(entry: Entry): [string, string, HTMLElement | null] {
  const { shown } = entry;
  const words = [typeOf(shown), rangeOf(shown), originText(shown.origins ?? [])];
  return [words.filter(Boolean).join("\n"), shapeOf(entry), mark(shown)];
}

/** A flag for non-finite values. */
function mark({ nan = 0, inf = 0 }: TensorRecord): HTMLElement | null {
  const text = nan > 0 ? "NaN" : inf > 0 ? "∞" : "";
  return text ? el("span", { class: "flag" }, text) : null;
}

/** Scroll the strip, and nothing around it, as little as needed to show an entry. */
function bringIntoView(list: HTMLElement, part: HTMLElement | null): void {
  if (!part) return;
  const inside = part.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (inside.left < box.left) list.scrollLeft += inside.left - box.left - 8;
  else if (inside.right > box.right) list.scrollLeft += inside.right - box.right + 8;
}

/** Describe the entries that are omitted after an entry. */
function cutNotes({ tensors }: Entry): HTMLLIElement[] {
  const cuts = tensors.flatMap(({ cuts }) => cuts);
  return cuts.map((text) => el("li", { class: "list-cut" }, `… ${text}`));
}
