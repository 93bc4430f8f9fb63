/** Every tensor of the run in a list, and the chosen one looked into below. */

import { el } from "../../parts/dom";
import { count, short, tuple } from "../../parts/format";
import { originNote, whyGone } from "../../page/origin";
import type { Page, Part } from "../../page/page";
import type { TensorRecord } from "../../page/protocol";
import { schemeOf, type Scheme } from "../../page/media";
import { mountViewer } from "./tensor-viewer";
import "./tensors.css";

export function mountTensors(host: HTMLElement, page: Page): Part {
  const list = el("ul", { class: "tensor-list", "aria-label": "Tensors of the run" });
  const empty = el("p", { class: "empty" }, "Tensors of the run appear here, each as a picture.");
  const inside = el("div", { class: "viewer", hidden: true });
  host.append(empty, list, inside);
  const viewer = mountViewer(inside, page);
  let drawn: TensorRecord[] | null = null;
  let chosen = "";
  let shown = -1;
  let opened = "";
  let scheme: Scheme | null = null;

  const current = (): HTMLElement | null => list.querySelector("[aria-current='true']");
  const select = (tensor: TensorRecord): void => {
    for (const entry of list.querySelectorAll("button")) {
      const isChosen = entry.dataset["id"] === String(tensor.id);
      entry.setAttribute("aria-current", String(isChosen));
    }
    inside.hidden = false;
    const problem = whyGone(page.view, "tensors", "tensor", "values");
    void viewer.show(problem ? { ...tensor, problem } : tensor);
  };
  const pick = (tensor: TensorRecord): void => {
    chosen = tensor.name;
    select(tensor);
  };
  const redraw = (tensors: TensorRecord[]): void => {
    const rows = tensors.flatMap((tensor) => [item(tensor, pick), ...cutNotes(tensor)]);
    list.replaceChildren(...rows);
    empty.hidden = tensors.length > 0;
    inside.hidden = tensors.length === 0;
    // What the reader chose by hand, else what the program showed last.
    const again =
      tensors.find(({ name }) => name === chosen) ??
      tensors.find(({ displays }) => displays.includes(shown)) ??
      tensors.find(({ size, problem }) => size > 1 && !problem) ??
      tensors[0];
    if (again) select(again);
    else viewer.clear();
    bringIntoView(list, current());
  };
  return {
    begin: () => {
      shown = -1;
      viewer.clear();
    },
    note: (note) => {
      if (note.note === "display" && note.tensor) shown = note.display;
    },
    update: (view) => {
      if (view.document.id !== opened) {
        opened = view.document.id;
        chosen = "";
      }
      if (view.tensors !== drawn) {
        drawn = view.tensors;
        redraw(drawn);
      } else if (schemeOf(view) !== scheme) {
        viewer.recolour(schemeOf(view));
      }
      scheme = schemeOf(view);
    },
    // A list that was not shown could not be scrolled.
    shown: () => bringIntoView(list, current()),
    originNote: (view) => (view.tensors.length > 0 ? originNote(view, "tensors") : null),
    inspect: (display) => {
      const tensor = page.view.tensors.find(({ displays }) => displays.includes(display));
      if (!tensor) return;
      page.show(host.id);
      pick(tensor);
      current()?.scrollIntoView({ block: "nearest" });
    },
  };
}

/** Scroll a list, and nothing around it, by as little as shows one of its rows. */
function bringIntoView(list: HTMLElement, row: HTMLElement | null): void {
  if (!row) return;
  const inside = row.getBoundingClientRect();
  const box = list.getBoundingClientRect();
  if (inside.top < box.top) list.scrollTop += inside.top - box.top - 4;
  else if (inside.bottom > box.bottom) list.scrollTop += inside.bottom - box.bottom + 4;
}

/** What the list lacks after a tensor, in words. */
function cutNotes({ cuts }: TensorRecord): HTMLLIElement[] {
  return cuts.map((text) => el("li", { class: "list-cut" }, `… ${text}`));
}

function item(tensor: TensorRecord, pick: (tensor: TensorRecord) => void): HTMLLIElement {
  const entry = el("button", { type: "button", class: "tensor", "data-id": tensor.id });
  entry.append(
    el(
      "span",
      { class: "tensor-head" },
      el("strong", { class: "tensor-name" }, tensor.name),
      el("span", { class: "tensor-type" }, `${tensor.dtype} ${tuple(tensor.shape)}`),
      ...flags(tensor),
      el("span", { class: "tensor-device" }, tensor.device),
    ),
    el("span", { class: "tensor-facts" }, facts(tensor)),
  );
  entry.addEventListener("click", () => pick(tensor));
  return el("li", {}, entry);
}

function flags({ nan = 0, inf = 0, problem }: TensorRecord): HTMLElement[] {
  const texts = [];
  if (nan > 0) texts.push(`${nan.toLocaleString("en-US")} NaN`);
  if (inf > 0) texts.push(`${inf.toLocaleString("en-US")} Inf`);
  if (problem) texts.push("no values");
  return texts.map((text) => el("span", { class: "flag" }, text));
}

function facts(tensor: TensorRecord): string {
  if (tensor.problem) return tensor.problem;
  const parts = [];
  if (tensor.size === 1 && tensor.mean !== undefined && tensor.mean !== null) {
    parts.push(`value ${short(tensor.mean)}`);
  } else if (tensor.min !== undefined && tensor.min !== null) {
    parts.push(`${short(tensor.min)} … ${short(tensor.max)}`, `mean ${short(tensor.mean)}`);
  } else if (tensor.size === 0) {
    parts.push("no elements");
  } else {
    parts.push(count(tensor.size, "element"));
  }
  parts.push(`strides ${tuple(tensor.strides)}`);
  if (tensor.viewOf) parts.push(`view of ${tensor.viewOf}`);
  return parts.join(" · ");
}
