/** The menu of programs: the examples, and what only this browser has. */

import { ICONS, button, el, icon } from "./dom";
import type { KeptDocument } from "../page/documents";
import type { Example, Page, Part } from "../page/page";
import { idOf } from "../page/workspace";

const LONGEST = 80;

export function mountExamples(host: HTMLElement, page: Page): Part {
  const list = el("ul", { class: "example-list" });
  const missing = el(
    "p",
    { hidden: true },
    "The examples could not be loaded. ",
    button("Try again", () => void page.workspace.openFirst(), { class: "quiet" }),
  );
  const own = el("ul", { class: "example-list" });
  const ownPart = el("section", { hidden: true }, el("h3", {}, "Kept in this browser"), own);
  const dialog = el(
    "dialog",
    { class: "examples", "aria-labelledby": "examples-title" },
    el("h2", { id: "examples-title" }, "Examples"),
    list,
    missing,
    ownPart,
    button("Close", () => dialog.close(), { class: "quiet" }),
  );
  const open = button("", () => show(), { class: "tool", "aria-haspopup": "dialog" });
  const show = (): void => {
    page.workspace.listKept();
    dialog.showModal();
  };
  open.append(icon(ICONS.book), el("span", { class: "tool-label" }, "Examples"));
  open.setAttribute("aria-label", "Examples");
  const title = el("span", { class: "document-title" });
  const mark = el("span", { class: "edited" }, "edited");
  host.append(open, title, mark, dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  let drawn: Example[] | null | undefined;
  let listed: KeptDocument[] | null = null;
  const choose = (id: string): void => {
    dialog.close();
    page.workspace.openExample(id);
    page.editor.focus();
  };
  const chooseKept = (id: string): void => {
    dialog.close();
    void page.workspace.openKept(id).then(() => page.editor.focus());
  };
  return {
    update: (view) => {
      title.textContent = view.document.title;
      mark.hidden = !view.edited;
      if (view.examples !== drawn) {
        drawn = view.examples;
        missing.hidden = drawn !== null;
        list.replaceChildren(...(drawn ?? []).map((example) => item(example, choose)));
      }
      if (view.kept !== listed) {
        listed = view.kept;
        ownPart.hidden = listed.length === 0;
        own.replaceChildren(...listed.map((kept) => keptItem(kept, chooseKept)));
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

/** A program by its title, when it was changed, and its first line of code. */
function keptItem(kept: KeptDocument, choose: (id: string) => void): HTMLLIElement {
  const entry = button("", () => choose(kept.id), { class: "example", "data-id": kept.id });
  const when = new Date(kept.changed).toLocaleString();
  const first = kept.text.split("\n").find((line) => line.trim()) ?? "";
  entry.append(
    el("strong", {}, kept.title.slice(0, LONGEST)),
    el("span", {}, when),
    el("code", {}, first.trim().slice(0, LONGEST)),
  );
  return el("li", {}, entry);
}
