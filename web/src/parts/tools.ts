/** The toolbar's commands: share, reset, menu, theme and help. */

import { ICONS, button, el, icon } from "./dom";
import { mountMenu } from "./menu";
import { shareDialog } from "./share";
import { links } from "./intro";
import { beginTour } from "./tour";
import type { Page } from "../page/page";
import { themeAfter, type Theme } from "../page/media";
import type { Part } from "../page/view";

const THEMES: readonly { name: Theme; label: string; picture: string }[] = [
  { name: "system", label: "as the system", picture: ICONS.system },
  { name: "light", label: "light", picture: ICONS.sun },
  { name: "dark", label: "dark", picture: ICONS.moon },
];

export function mountTools(host: HTMLElement, page: Page): Part {
  const sharing = shareDialog(page);
  const link = tool("Share", ICONS.share, sharing.open);
  link.title = "A link to this program, or a frame for another page";
  link.setAttribute("aria-haspopup", "dialog");
  const reset = tool("Reset", ICONS.reset, () => page.workspace.reset());
  reset.id = "reset";
  reset.title = "Back to the original program";
  const theme = button("", () => page.setTheme(themeAfter(page.view.theme)), { class: "tool icon-only", id: "theme" });
  const help = helpDialog(() => {
    help.close();
    beginTour(page);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.defaultPrevented || isTyping(event.target)) return;
    help.showModal();
  });
  const helpButton = tool("Help", ICONS.help, () => help.showModal());
  helpButton.id = "help";
  helpButton.classList.add("icon-only");
  helpButton.title = "How this page works, and its keys (?)";
  helpButton.setAttribute("aria-keyshortcuts", "?");
  host.append(link, reset, mountMenu(page), theme, helpButton, help, sharing.dom);

  let drawn: Theme | null = null;
  return {
    update: (view) => {
      sharing.update(view);
      reset.disabled = !view.edited;
      if (view.theme === drawn) return;
      drawn = view.theme;
      const row = THEMES.find(({ name }) => name === drawn);
      if (!row) return;
      theme.replaceChildren(icon(row.picture));
      theme.setAttribute("aria-label", `Colours: ${row.label}`);
      theme.title = `Colours: ${row.label}`;
    },
  };
}

function tool(label: string, picture: string, action: () => void): HTMLButtonElement {
  const node = button("", action, { class: "tool", "aria-label": label });
  node.append(icon(picture), el("span", { class: "tool-label" }, label));
  return node;
}

const KEYS: readonly (readonly [string, string])[] = [
  ["Ctrl or ⌘ + Enter", "run the program"],
  ["Shift + Enter", "run the cell that begins with # %% and go on to the next; the program where it has none"],
  ["Ctrl or ⌘ + ., Esc twice", "stop the program"],
  ["Ctrl or ⌘ + F, in the editor", "find and replace"],
  ["Shift + Alt + F", "format the code"],
  ["Alt + drag on a number", "change it, and run the program again each time; Escape restores it"],
  ["Alt + ↑ and Alt + ↓ on a number", "the same by keys, with Shift in larger steps"],
  ["Alt + Enter in the editor", "show the tensor that the line made"],
  ["F2 and Delete on a file’s tab", "rename and delete the file"],
  ["?", "show this sheet"],
  ["Esc, then Tab", "leave the editor; Tab alone indents"],
  ["Arrow keys on a heat map", "move the cell cursor; Page keys and Home, End jump; + − 0 1 zoom"],
  ["c, Escape on a heat map", "centre the colours on the cell; the scale of the values again"],
  ["w on a heat map", "why the cell has its value"],
  ["Space on a slider", "plays it"],
  ["Arrow keys on a splitter", "change the sizes of the panes"],
];

/** Whether a key is text input for the focused element. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));
}

function helpDialog(tour: () => void): HTMLDialogElement {
  const rows = KEYS.flatMap(([keys, effect]) => [el("dt", {}, keys), el("dd", {}, effect)]);
  const dialog = el(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    // Focusing the first element makes the dialog open at its top.
    el("h2", { id: "help-title", tabindex: -1, autofocus: true }, "How this page works"),
    el(
      "p",
      {},
      "Your program runs in this browser: Python in a worker, tensors on your GPU through WebGPU or on the CPU through WebAssembly. It reaches this site only, unless you allow it the network below.",
    ),
    el(
      "p",
      {},
      "The last expression and everything given to tw.show(x) is displayed. Every tensor of the run is in the list on the right; choose one to look into it.",
    ),
    el("dl", {}, ...rows),
    el("p", {}, "What you type is kept in this browser, as a program of your own: choose the title above the code to see them all. Reset goes back to what a program was at first, and Undo returns from there."),
    el(
      "div",
      { class: "dialog-actions" },
      button("Close", () => dialog.close(), { class: "primary" }),
      button("Take the tour: two minutes", tour),
      ...links(),
    ),
  );
  return dialog;
}
