/** One line above the panels: the code's origin, or a feature that the browser lacks. */

import { button, el } from "./dom";
import type { Page } from "../page/page";
import type { Notice, Part } from "../page/view";

export function mountNotice(host: HTMLElement, page: Page): Part {
  const text = el("span");
  const buttons = el("span", { class: "notice-actions" });
  host.append(text, buttons);
  let hosts: Notice | null = null;
  let conflict: string | null = null;
  const close = { label: "Close", run: () => page.dismiss() };
  return {
    update: (view) => {
      if (view.notice === hosts && view.conflict === conflict) return;
      hosts = view.notice;
      conflict = view.conflict;
      const shown = conflict === null ? hosts : question(conflict, page);
      host.hidden = !shown;
      host.dataset["kind"] = shown?.kind ?? "info";
      text.textContent = shown?.text ?? "";
      const actions = shown?.actions ?? [];
      const all = conflict === null ? [...actions, close] : actions;
      buttons.replaceChildren(...all.map(({ label, run }) => button(label, run, { class: "quiet" })));
    },
  };
}

/** Shows a conflict of two tabs with one program; neither version is lost without a decision. */
function question(title: string, page: Page): Notice {
  return {
    kind: "warning",
    text: `“${title}” was changed in another tab. Which version do you want?`,
    actions: [
      { label: "Keep mine", run: () => page.workspace.keepMine() },
      { label: "Take theirs", run: () => page.workspace.takeTheirs() },
    ],
  };
}
