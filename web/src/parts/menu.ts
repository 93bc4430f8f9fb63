/** The menu of what else can be done with the program: a row for each command. */

import { saveProgram } from "../page/download";
import { formatCode } from "../page/formatting";
import type { Page } from "../page/page";
import { saveAsPage } from "./standalone";
import { showDifference } from "./difference";
import { ICONS, button, el, icon } from "./dom";

interface Command {
  label: string;
  /** The key that does the same, or a word about the result. */
  hint: string;
  run(page: Page): void;
}

const COMMANDS: readonly Command[] = [
  { label: "Format the code", hint: "Shift+Alt+F", run: (page) => void formatCode(page) },
  { label: "What I changed", hint: "beside the original", run: showDifference },
  { label: "Add a file…", hint: "a module or data", run: (page) => page.nameFile() },
  {
    label: "Download the program",
    hint: ".py",
    run: (page) => saveProgram(page.view.document.title, page.editor.files()),
  },
  { label: "Save with its result", hint: ".html", run: (page) => void saveAsPage(page) },
];

export function mountMenu(page: Page): HTMLElement {
  const items = COMMANDS.map((command) => {
    const act = (): void => {
      close(false);
      command.run(page);
    };
    const item = button("", act, { role: "menuitem", tabindex: -1, class: "menu-item" });
    item.append(el("span", {}, command.label), el("span", { class: "menu-hint" }, command.hint));
    return item;
  });
  const menu = el("div", { class: "menu", role: "menu", "aria-label": "More", hidden: true }, ...items);
  const open = button("", () => (menu.hidden ? show() : close(true)), { class: "tool icon-only", "aria-label": "More", "aria-haspopup": "menu", "aria-expanded": "false" });
  open.title = "More: format, files, download";
  open.append(icon(ICONS.more));
  const host = el("div", { class: "menu-host" }, open, menu);

  const show = (): void => {
    menu.hidden = false;
    open.setAttribute("aria-expanded", "true");
    items[0]?.focus();
  };
  const close = (returns: boolean): void => {
    if (menu.hidden) return;
    menu.hidden = true;
    open.setAttribute("aria-expanded", "false");
    if (returns) open.focus();
  };
  host.addEventListener("focusout", (event) => {
    if (!host.contains(event.relatedTarget as Node | null)) close(false);
  });
  document.addEventListener("keydown", (event) => {
    // By its place: with Alt the key writes other letters on some keyboards.
    const isFormat = event.code === "KeyF" && event.shiftKey && event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isFormat || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    void formatCode(page);
  }, { capture: true });
  menu.addEventListener("keydown", (event) => {
    const here = items.indexOf(document.activeElement as HTMLButtonElement);
    const places: Record<string, number> = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 };
    const place = places[event.key];
    if (event.key === "Escape") close(true);
    else if (place !== undefined) items[(place + items.length) % items.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return host;
}
