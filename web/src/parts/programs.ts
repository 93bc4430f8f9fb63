/** The open program's title, and the list of the programs that only this browser has. */

import { ICONS, button, el, icon } from "./dom";
import { ago } from "./format";
import { mainOf } from "../page/program";
import type { StoredDocument } from "../page/documents";
import type { Page } from "../page/page";
import type { Notice, Part } from "../page/view";

const LONGEST = 80;

export function mountPrograms(host: HTMLElement, page: Page): Part {
  const list = el("ul", { class: "program-list" });
  const empty = el("p", { class: "empty" }, "Nothing yet. Change any example, and your version is stored here.");
  const status = el("p", { class: "program-said", role: "status" });
  const create = button("New program", () => {
    dialog.close();
    page.library.create();
    page.editor.focus();
  });
  const dialog = el(
    "dialog",
    { class: "programs", "aria-labelledby": "programs-title" },
    el("h2", { id: "programs-title" }, "Your programs"),
    el("p", { class: "hint" }, "Kept in this browser, and nowhere else."),
    list,
    empty,
    status,
    el("div", { class: "dialog-actions" }, create, button("Close", () => dialog.close(), { class: "quiet" })),
  );
  const title = el("span", { class: "document-title" });
  const open = button("", () => {
    page.library.list();
    dialog.showModal();
  });
  open.className = "tool document";
  open.setAttribute("aria-haspopup", "dialog");
  const mark = el("span", { class: "document-kind" });
  open.append(title, mark, el("span", { class: "visually-hidden" }, ", your programs"), icon(ICONS.chevron));
  host.append(open, dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  let listed: StoredDocument[] | null = null;
  let notice: Notice | null = null;
  const choose = (id: string): void => {
    dialog.close();
    void page.workspace.openStored(id).then(() => page.editor.focus());
  };
  return {
    update: (view) => {
      const { document: shown, edited } = view;
      title.textContent = shown.title;
      mark.textContent = shown.kind === "own" ? "" : shown.kind === "link" && edited ? "edited" : shown.kind;
      open.title = shown.title;
      if (view.programs !== listed) {
        listed = view.programs;
        empty.hidden = listed.length > 0;
        list.replaceChildren(...listed.map((program) => row(program, page, choose)));
      }
      if (view.notice !== notice) {
        notice = view.notice;
        const actions = (notice?.actions ?? []).map(({ label, run }) => button(label, run, { class: "quiet" }));
        status.replaceChildren(notice?.text ?? "", ...actions);
      }
      for (const entry of list.querySelectorAll("button[data-id]")) {
        const isOpen = (entry as HTMLElement).dataset["id"] === shown.id;
        if (isOpen) entry.setAttribute("aria-current", "true");
        else entry.removeAttribute("aria-current");
      }
    },
  };
}

/** An entry of the list: a program's title, date, first line, and commands. */
function row(program: StoredDocument, page: Page, choose: (id: string) => void): HTMLLIElement {
  const name = program.title.slice(0, LONGEST);
  const first = mainOf(program.text).split("\n").find((line) => line.trim()) ?? "";
  const entry = button("", () => choose(program.id), { class: "program", "data-id": program.id });
  const when = el("time", { title: new Date(program.changed).toLocaleString() }, ago(program.changed));
  entry.append(el("strong", {}, name), when, el("code", {}, first.trim().slice(0, LONGEST)));
  const act = (label: string, action: () => void): HTMLButtonElement =>
    button(label, action, { class: "quiet", "aria-label": `${label} ${name}` });
  const change = act("Rename", () => {
    const field = titleField(name, (title) => {
      if (title === null) field.replaceWith(entry);
      else page.library.rename(program.id, title);
    });
    entry.replaceWith(field);
    field.select();
  });
  return el(
    "li",
    {},
    entry,
    change,
    act("Duplicate", () => {
      page.library.duplicate(program.id);
      page.library.list();
    }),
    act("Delete", () => void page.library.delete(program.id)),
  );
}

/** A field for a new title; Enter and blur accept it, Escape cancels. */
function titleField(title: string, done: (title: string | null) => void): HTMLInputElement {
  const field = el("input", { type: "text", value: title, maxlength: LONGEST, "aria-label": "New title" });
  let isDone = false;
  const end = (value: string | null): void => {
    if (isDone) return;
    isDone = true;
    done(value?.trim() ? value : null);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") end(field.value);
    if (event.key !== "Escape") return;
    // The field handles this key, not the dialog around it.
    event.preventDefault();
    end(null);
  });
  field.addEventListener("blur", () => end(field.value));
  return field;
}
