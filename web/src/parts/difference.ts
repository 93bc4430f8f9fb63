/** Shows the reader's changes of an example or of a link's program. */

import { button, el } from "./dom";
import type { Page } from "../page/page";
import { filesOf, type ProgramFile } from "../page/program";

/** Compare the visible file with its original, or report that nothing differs. */
export function showDifference(page: Page): void {
  const { document: program, file } = page.view;
  if (program.original === null) {
    return page.notify({ kind: "info", text: "This program began empty: there is nothing to compare it with." });
  }
  const before = textOf(filesOf(program.original), file);
  const after = textOf(page.editor.files(), file);
  if (before === after) return page.notify({ kind: "info", text: `${file} is as it came: nothing is changed.` });
  const shown = page.editor.difference(file, before, after);
  const where = shown.chunks === 1 ? "one part" : `${shown.chunks} parts`;
  const dialog = el(
    "dialog",
    { class: "differences", "aria-labelledby": "difference-title" },
    el("h2", { id: "difference-title" }, `What is changed in “${program.title}”`),
    el("p", { class: "hint" }, `${file} differs in ${where} from what it began as: green lines are added, red ones removed.`),
    el("div", { class: "difference" }, shown.dom),
    el("div", { class: "dialog-actions" }, button("Close", () => dialog.close())),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    shown.end();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
}

function textOf(files: readonly ProgramFile[], name: string): string {
  return files.find((file) => file.name === name)?.text ?? "";
}
