/** The menu of example programs: a dialog with a title and one line about each. */

import { ICONS, button, el, icon } from "../dom";
import { idOf, type Example, type Page, type Part } from "../page";

export function mountExamples(host: HTMLElement, page: Page): Part {
  const list = el("ul", { class: "example-list" });
  const dialog = el(
    "dialog",
    { class: "examples", "aria-labelledby": "examples-title" },
    el("h2", { id: "examples-title" }, "Examples"),
    list,
    button("Close", () => dialog.close(), { class: "quiet" }),
  );
  const open = button("", () => dialog.showModal(), { class: "tool", "aria-haspopup": "dialog" });
  open.append(icon(ICONS.book), el("span", { class: "tool-label" }, "Examples"));
  open.setAttribute("aria-label", "Examples");
  const title = el("span", { class: "document-title" });
  const mark = el("span", { class: "edited" }, "edited");
  host.append(open, title, mark, dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  let drawn: Example[] | null = null;
  const choose = (id: string): void => {
    dialog.close();
    void page.openExample(id).then(() => page.editor?.focus());
  };
  return {
    dom: host,
    update: (view) => {
      title.textContent = view.document.title;
      mark.hidden = !view.edited;
      if (view.examples !== drawn) {
        drawn = view.examples;
        list.replaceChildren(...drawn.map((example) => item(example, choose)));
      }
      for (const entry of list.querySelectorAll("button")) {
        const isOpen = entry.dataset["id"] === view.document.id;
        entry.toggleAttribute("aria-current", isOpen);
      }
    },
    dispose: () => host.replaceChildren(),
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
