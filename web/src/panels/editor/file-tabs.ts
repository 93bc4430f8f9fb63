/** The tabs of a program of several files, and the commands for a file. */

import { button, el } from "../../parts/dom";
import type { Page } from "../../page/page";
import { MAIN, nameProblem } from "../../page/program";
import "./file-tabs.css";
import type { View } from "../../page/view";

export interface FileTabs {
  dom: HTMLElement;
  update(view: View): void;
  /** Ask for the name of a new file. */
  add(): void;
}

export function mountFileTabs(page: Page): FileTabs {
  const list = el("div", { class: "file-tabs", role: "tablist", "aria-label": "Files of the program" });
  const add = button("+ File", () => editName(null), { class: "quiet", title: "Add a file to the program" });
  const rename = button("Rename", () => editName(page.view.file), { class: "quiet" });
  const remove = button("Delete", () => deleteFile(page, page.view.file), { class: "quiet" });
  const actions = el("div", { class: "file-actions" }, rename, remove);
  const naming = el("div", { class: "file-naming", hidden: true });
  const dom = el("div", { class: "file-bar", hidden: true }, list, add, naming, actions);
  let drawn = "";

  /** Ask for the name of a new file (null), or for a new name of an existing file. */
  const editName = (old: string | null): void => {
    const end = (): void => {
      naming.replaceChildren();
      draw(page.view);
    };
    const field = nameField(page, old, (name) => {
      end();
      if (name === null) return page.editor.focus();
      if (old === null) page.editor.addFile({ name, text: "" });
      else page.editor.renameFile(old, name);
      page.editor.focus();
    });
    naming.replaceChildren(field);
    draw(page.view);
    field.querySelector("input")?.select();
  };
  const draw = ({ files, file }: View): void => {
    const isNaming = naming.childElementCount > 0;
    dom.hidden = files.length < 2 && !isNaming;
    naming.hidden = !isNaming;
    add.hidden = isNaming;
    actions.hidden = isNaming || file === MAIN;
    rename.setAttribute("aria-label", `Rename ${file}`);
    remove.setAttribute("aria-label", `Delete ${file}`);
  };
  const tab = (name: string): HTMLButtonElement => {
    const node = button(name, () => page.editor.showFile(name), { role: "tab", "data-file": name });
    if (name !== MAIN) node.addEventListener("dblclick", () => editName(name));
    return node;
  };
  list.addEventListener("keydown", (event) => {
    const { files, file } = page.view;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      event.preventDefault();
      const next = files[(files.indexOf(file) + step + files.length) % files.length] ?? MAIN;
      page.editor.showFile(next);
      list.querySelector<HTMLElement>(`[data-file="${next}"]`)?.focus();
    } else if (file !== MAIN && (event.key === "Delete" || event.key === "F2")) {
      event.preventDefault();
      if (event.key === "F2") editName(file);
      else deleteFile(page, file);
    }
  });
  return {
    dom,
    add: () => editName(null),
    update: (view) => {
      const names = view.files.join("\n");
      if (names !== drawn) {
        drawn = names;
        list.replaceChildren(...view.files.map(tab));
        naming.replaceChildren();
      }
      const failed = failedFile(view);
      for (const node of list.querySelectorAll<HTMLElement>("[data-file]")) {
        const name = node.dataset["file"];
        node.setAttribute("aria-selected", String(name === view.file));
        node.tabIndex = name === view.file ? 0 : -1;
        node.toggleAttribute("data-failed", name === failed);
        node.title = name === failed ? "The last run failed in this file" : "";
      }
      draw(view);
    },
  };
}

/** The file in which the last run of the program failed, if it did. */
function failedFile({ run, origins, document }: View): string | null {
  const last = origins.run?.document === document.id ? run?.error?.frames.at(-1) : undefined;
  return last && "file" in last ? last.file : null;
}

function deleteFile(page: Page, name: string): void {
  const files = page.editor.files();
  const index = files.findIndex((file) => file.name === name);
  const file = files[index];
  if (!file || index === 0) return;
  const undo = (): void => {
    page.dismiss();
    const problem = nameProblem(name, page.editor.files());
    if (problem) return page.warn(problem);
    page.editor.addFile(file, Math.min(index, page.editor.files().length));
  };
  page.editor.deleteFile(name);
  page.notify({ kind: "info", text: `${name} is deleted.`, actions: [{ label: "Undo", run: undo }] });
  page.editor.focus();
}

/** A field for a file's name; Enter accepts it, Escape and blur cancel. */
function nameField(page: Page, old: string | null, done: (name: string | null) => void): HTMLElement {
  const field = el("input", { type: "text", value: old ?? "", placeholder: "helpers.py", size: 18, autocapitalize: "off", spellcheck: "false" });
  field.setAttribute("aria-label", old === null ? "Name of the new file" : `New name of ${old}`);
  const problemText = el("span", { class: "file-problem", role: "alert" });
  let isDone = false;
  const end = (name: string | null): void => {
    if (isDone) return;
    isDone = true;
    done(name);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return end(null);
    if (event.key !== "Enter") return;
    const name = field.value.trim();
    if (name === old) return end(null);
    const others = page.editor.files().filter((file) => file.name !== old);
    const problem = nameProblem(name, others);
    field.setAttribute("aria-invalid", String(problem !== null));
    problemText.textContent = problem ?? "";
    if (problem === null) end(name);
  });
  field.addEventListener("blur", () => end(null));
  return el("span", { class: "file-name-field" }, field, problemText);
}
