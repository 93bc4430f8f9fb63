/** The menu of further commands for the program: an entry for each. */

import { saveProgram } from "../page/download";
import { formatCode } from "../page/formatting";
import type { Page } from "../page/page";
import { saveAsPage } from "./standalone";
import { showDifference } from "./difference";
import { ICONS, button, el, find, icon } from "./dom";
import { isInMenu } from "./toolbar";

interface Command {
  label: string;
  /** The keyboard shortcut, or a hint about the result. */
  hint: string;
  run(page: Page): void;
  /** For a switch, whether it is on. */
  isOn?(page: Page): boolean;
  /** For a command with a toolbar button: the shrinking step that hides the button, and its id. */
  step?: string;
  id?: string;
}

/** A menu entry for a toolbar button that does not fit. */
function moved(step: string, id: string, label: string, hint: string): Command {
  return { label, hint, step, id, run: () => find(`#${id}`).click() };
}

const COMMANDS: readonly Command[] = [
  moved("example-steps", "previous-example", "Previous example", ""),
  moved("example-steps", "next-example", "Next example", ""),
  moved("reset", "reset", "Reset", "back to the original"),
  { label: "Format the code", hint: "Shift+Alt+F", run: (page) => void formatCode(page) },
  { label: "What I changed", hint: "next to the original", run: showDifference },
  {
    label: "Results of lines",
    hint: "shapes, times, kernels",
    isOn: (page) => page.view.showsResults,
    run: (page) => page.setShowsResults(!page.view.showsResults),
  },
  { label: "Add a file…", hint: "a module or data", run: (page) => page.nameFile() },
  {
    label: "Download the program",
    hint: ".py",
    run: (page) => saveProgram(page.view.document.title, page.editor.files()),
  },
  { label: "Save with its result", hint: ".html", run: (page) => void saveAsPage(page) },
  moved("theme", "theme", "Colours", "system, light, dark"),
  moved("help", "help", "Help", "?"),
];

export function mountMenu(page: Page): HTMLElement {
  const items = COMMANDS.map((command) => {
    const act = (): void => {
      close(false);
      command.run(page);
    };
    const item = button("", act, { role: command.isOn ? "menuitemcheckbox" : "menuitem", tabindex: -1, class: "menu-item" });
    item.append(el("span", {}, command.label), el("span", { class: "menu-hint" }, command.hint));
    return item;
  });
  const menu = el("div", { class: "menu", role: "menu", "aria-label": "More", hidden: true }, ...items);
  const open = button("", () => (menu.hidden ? show() : close(true)), { class: "tool icon-only", "aria-label": "More", "aria-haspopup": "menu", "aria-expanded": "false" });
  open.title = "More: format, files, download";
  open.append(icon(ICONS.more));
  const host = el("div", { class: "menu-host" }, open, menu);

  const shown = (): HTMLButtonElement[] => items.filter((item) => !item.hidden && !item.disabled);
  const show = (): void => {
    COMMANDS.forEach(({ step, id, isOn }, index) => {
      const item = items[index];
      if (item && isOn) item.setAttribute("aria-checked", String(isOn(page)));
      if (!item || step === undefined) return;
      item.hidden = !isInMenu(step);
      item.disabled = find<HTMLButtonElement>(`#${id}`).disabled;
    });
    menu.hidden = false;
    open.setAttribute("aria-expanded", "true");
    shown()[0]?.focus();
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
    // Compare the key's code, since Alt produces other letters on some keyboards.
    const isFormat = event.code === "KeyF" && event.shiftKey && event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isFormat || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    void formatCode(page);
  }, { capture: true });
  menu.addEventListener("keydown", (event) => {
    const all = shown();
    const here = all.indexOf(document.activeElement as HTMLButtonElement);
    const targets: Record<string, number> = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 };
    const index = targets[event.key];
    if (event.key === "Escape") close(true);
    else if (index !== undefined) all[(index + all.length) % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return host;
}
