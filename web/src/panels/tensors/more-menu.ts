/** Rare commands behind one button: shown below it until the reader clicks elsewhere. */

import { button, el } from "../../parts/dom";

export interface More {
  dom: HTMLElement;
  close(): void;
}

export function mountMore(label: string, ...items: HTMLElement[]): More {
  const opener = button("⋯", () => setOpen(!isOpen), { class: "quiet", "aria-label": label, title: label, "aria-expanded": "false" });
  const list = el("div", { class: "more-list", role: "group", "aria-label": label, hidden: true }, ...items);
  const dom = el("div", { class: "more" }, opener, list);

  let isOpen = false;

  const setOpen = (opens: boolean): void => {
    isOpen = opens;
    list.hidden = !isOpen;
    opener.setAttribute("aria-expanded", String(isOpen));
  };
  dom.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setOpen(false);
    opener.focus();
  });
  dom.addEventListener("focusout", (event) => {
    if (event.relatedTarget instanceof Node && !dom.contains(event.relatedTarget)) setOpen(false);
  });
  document.addEventListener("pointerdown", (event) => {
    if (!dom.contains(event.target as Node)) setOpen(false);
  });
  return { dom, close: () => setOpen(false) };
}
