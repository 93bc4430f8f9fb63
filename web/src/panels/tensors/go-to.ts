/** A field for the index of an element: `2, 0, 7` or `[2, 0, -1]`. */

import { el } from "../../parts/dom";

export interface GoTo {
  dom: HTMLElement;
  /** Take indices into a shape; a number alone has none. */
  show(shape: readonly number[]): void;
}

export function mountGoTo(go: (index: number[]) => void): GoTo {
  const field = el("input", { type: "text", class: "go-to", "aria-label": "Go to index", placeholder: "Go to index", autocomplete: "off", spellcheck: "false" });
  let shape: readonly number[] = [];
  field.addEventListener("change", () => {
    const typed = (field.value.match(/-?\d+/g) ?? []).map(Number);
    const index = typed.map((value, axis) => (value < 0 ? value + (shape[axis] ?? 0) : value));
    const isThere = index.length === shape.length && index.every((value, axis) => value >= 0 && value < (shape[axis] ?? 0));
    field.setCustomValidity(isThere ? "" : `Type ${shape.length} whole numbers within the shape.`);
    if (isThere) go(index);
    else field.reportValidity();
  });
  return {
    dom: field,
    show: (next) => {
      shape = next;
      field.value = "";
      field.hidden = next.length === 0;
    },
  };
}
