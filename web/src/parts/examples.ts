/** The menu of examples. */

import { ICONS, button, el, icon } from "./dom";
import type { Example, Page, Part } from "../page/page";
import { idOf } from "../page/workspace";

export function mountExamples(host: HTMLElement, page: Page): Part {
  const list = el("ul", { class: "example-list" });
  const missing = el(
    "p",
    { hidden: true },
    "The examples could not be loaded. ",
    button("Try again", () => void page.workspace.openFirst(), { class: "quiet" }),
  );
  const dialog = el(
    "dialog",
    { class: "examples", "aria-labelledby": "examples-title" },
    el("h2", { id: "examples-title" }, "Examples"),
    list,
    missing,
    button("Close", () => dialog.close(), { class: "quiet" }),
  );
  const open = button("", () => dialog.showModal(), { class: "tool", "aria-haspopup": "dialog" });
  open.append(icon(ICONS.book), el("span", { class: "tool-label" }, "Examples"));
  open.setAttribute("aria-label", "Examples");
  host.append(open, dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  let drawn: Example[] | null | undefined;
  const choose = (id: string): void => {
    dialog.close();
    page.workspace.openExample(id);
    page.editor.focus();
  };
  return {
    update: (view) => {
      if (view.examples !== drawn) {
        drawn = view.examples;
        missing.hidden = drawn !== null;
        list.replaceChildren(...(drawn ?? []).map((example) => item(example, choose)));
      }
      for (const entry of dialog.querySelectorAll("button")) {
        const isOpen = entry.dataset["id"] === view.document.id;
        if (isOpen) entry.setAttribute("aria-current", "true");
        else entry.removeAttribute("aria-current");
      }
    },
  };
}

function item(example: Example, choose: (id: string) => void): HTMLLIElement {
  const id = idOf(example.file);
  const entry = button("", () => choose(id), { class: "example", "data-id": id });
  entry.append(
    el("strong", {}, example.title),
    el("span", {}, example.description),
  );
  return el("li", {}, entry);
}
