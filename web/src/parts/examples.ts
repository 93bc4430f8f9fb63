/** The gallery of examples, in groups, and the steps to the next and the previous one. */

import { ICONS, button, el, icon } from "./dom";
import { links } from "./intro";
import type { Page } from "../page/page";
import { idOf } from "../page/workspace";
import type { Example, Part, View } from "../page/view";

export function mountExamples(host: HTMLElement, page: Page): Part {
  const groups = el("div", { class: "gallery" });
  const missing = el(
    "p",
    { hidden: true },
    "The examples could not be loaded. ",
    button("Try again", () => void page.workspace.openFirst(), { class: "quiet" }),
  );
  const dialog = el(
    "dialog",
    { class: "examples", "aria-labelledby": "examples-title" },
    el("h2", { id: "examples-title", tabindex: -1, autofocus: true }, "Examples"),
    groups,
    missing,
    el("div", { class: "dialog-actions" }, button("Close", () => dialog.close(), { class: "quiet" }), ...links()),
  );
  const open = button("", () => dialog.showModal(), { class: "tool", "aria-haspopup": "dialog" });
  open.append(icon(ICONS.book), el("span", { class: "tool-label" }, "Examples"));
  open.setAttribute("aria-label", "Examples");
  open.title = "Examples to learn from, to see and to measure";
  const steps = [stepButton("previous-example", "Previous example", ICONS.back, -1), stepButton("next-example", "Next example", ICONS.next, 1)];
  host.append(open, ...steps.map(({ node }) => node), dialog);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });

  function stepButton(id: string, label: string, picture: string, by: number): { node: HTMLButtonElement; by: number } {
    const go = (): void => {
      const target = neighbour(page.view, by);
      if (target) page.workspace.openExample(idOf(target.file));
    };
    const node = button("", go, { id, class: "tool icon-only step", "aria-label": label, title: label });
    node.append(icon(picture));
    return { node, by };
  }

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
        groups.replaceChildren(...grouped(drawn ?? [], choose));
      }
      for (const { node, by } of steps) node.disabled = neighbour(view, by) === null;
      for (const entry of groups.querySelectorAll("button")) {
        const isOpen = entry.dataset["id"] === view.document.id;
        if (isOpen) entry.setAttribute("aria-current", "true");
        else entry.removeAttribute("aria-current");
      }
    },
  };
}

/** The example at an offset from the open one; the first if none is open. */
function neighbour({ examples, document }: View, by: number): Example | null {
  const index = examples?.findIndex(({ file }) => idOf(file) === document.id) ?? -1;
  return examples?.[index < 0 && by > 0 ? 0 : index < 0 ? -1 : index + by] ?? null;
}

function grouped(examples: Example[], choose: (id: string) => void): HTMLElement[] {
  const names = [...new Set(examples.map(({ group }) => group))];
  return names.map((name) => {
    const items = examples.filter(({ group }) => group === name).map((example) => item(example, choose));
    return el("section", {}, el("h3", {}, name), el("ul", { class: "example-list" }, ...items));
  });
}

function item(example: Example, choose: (id: string) => void): HTMLLIElement {
  const id = idOf(example.file);
  const entry = button("", () => choose(id), { class: "example", "data-id": id });
  // Decorative, since title and description follow.
  const src = new URL(`examples/${id}.webp`, document.baseURI).href;
  entry.append(
    el("img", { src, alt: "", loading: "lazy", width: 240, height: 150 }),
    el("strong", {}, example.title),
    el("span", {}, example.description),
  );
  return el("li", {}, entry);
}
