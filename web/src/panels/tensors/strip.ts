/** All tensors of the run as small pictures in a row; one of them is chosen. */

import { el } from "../../parts/dom";
import { entriesOf, shapeOf, type Entry } from "./entries";
import { rangeOf, typeOf } from "./facts";
import { isPicture, mountSmallPictures } from "./small-pictures";
import type { Page } from "../../page/page";
import { short } from "../../parts/format";
import type { TensorRecord } from "../../page/protocol";
import type { Scheme } from "../../page/media";

export interface Strip {
  dom: HTMLElement;
  /** List tensors and return their entries. */
  show(tensors: readonly TensorRecord[]): Entry[];
  /** Say that the list comes later, in the place that it will take. */
  expect(): void;
  choose(entry: Entry): void;
  /** Scroll to the chosen one. */
  reveal(): void;
  recolour(scheme: Scheme): void;
}

const ROOM = { width: 60, height: 60 };

export function mountStrip(page: Page, pick: (entry: Entry) => void): Strip {
  const dom = el("ul", { class: "tensor-list", "aria-label": "Tensors of the run" });
  const pictures = mountSmallPictures(page, "thumb", ROOM);
  let buttons = new Map<string, HTMLButtonElement>();

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
  const item = (entry: Entry): HTMLLIElement => {
    const { shown } = entry;
    const face = el("span", { class: "face" });
    const node = el(
      "button",
      { type: "button", class: "tensor", title: `${typeOf(shown)}\n${rangeOf(shown)}` },
      face,
      el("span", { class: "tensor-name" }, entry.name),
      el("span", { class: "tensor-type" }, shapeOf(entry)),
      mark(shown),
    );
    if (isPicture(shown)) pictures.into(face, shown);
    else face.textContent = shown.problem ? "?" : shown.size === 0 ? "∅" : short(shown.mean);
    node.addEventListener("click", () => pick(entry));
    buttons.set(entry.name, node);
    return el("li", {}, node);
  };
  return {
    dom,
    show: (tensors) => {
      buttons = new Map();
      const entries = entriesOf(tensors);
      const rows = entries.flatMap((entry) => [item(entry), ...cutNotes(entry)]);
      dom.replaceChildren(...rows);
      return entries;
    },
    expect: () => {
      buttons = new Map();
      dom.replaceChildren(el("li", { class: "list-cut" }, "All tensors are listed here once the program has ended."));
    },
    choose: (entry) => {
      for (const [name, node] of buttons) {
        node.setAttribute("aria-current", String(name === entry.name));
        node.tabIndex = name === entry.name ? 0 : -1;
      }
    },
    reveal: () => bringIntoView(dom, current()),
    recolour: pictures.recolour,
  };
}

/** A word for what is not finite. */
function mark({ nan = 0, inf = 0 }: TensorRecord): HTMLElement | null {
  const text = nan > 0 ? "NaN" : inf > 0 ? "∞" : "";
  return text ? el("span", { class: "flag" }, text) : null;
}

/** Scroll a row, and nothing around it, by as little as shows one of its parts. */
function bringIntoView(list: HTMLElement, part: HTMLElement | null): void {
  if (!part) return;
  const inside = part.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (inside.left < box.left) list.scrollLeft += inside.left - box.left - 8;
  else if (inside.right > box.right) list.scrollLeft += inside.right - box.right + 8;
}

/** What the list lacks after an entry, in words. */
function cutNotes({ tensors }: Entry): HTMLLIElement[] {
  const cuts = tensors.flatMap(({ cuts }) => cuts);
  return cuts.map((text) => el("li", { class: "list-cut" }, `… ${text}`));
}
