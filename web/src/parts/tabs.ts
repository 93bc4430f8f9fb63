/** Tabs by the ARIA pattern: one is in the tab order, arrow keys move between them. */

import { button } from "./dom";
import type { Page } from "../page/page";
import type { Panel } from "../page/page";

export interface Tabs {
  /** Mark the tab of the panel that is shown. */
  select(id: string): void;
}

/** Fill a list with a tab for each panel. */
export function mountTabs(list: HTMLElement, label: string, panels: readonly Panel[], page: Page): Tabs {
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", label);
  const tabs = panels.map((panel) =>
    button(panel.label, () => page.show(panel.id), {
      role: "tab",
      "aria-controls": panel.id,
      "data-panel": panel.id,
    }),
  );
  list.append(...tabs);
  list.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const index = tabs.indexOf(document.activeElement as HTMLButtonElement);
    if (!step || index < 0) return;
    event.preventDefault();
    const next = tabs[(index + step + tabs.length) % tabs.length];
    next?.focus();
    next?.click();
  });
  return {
    select: (id) => {
      for (const tab of tabs) {
        const isSelected = tab.dataset["panel"] === id;
        const isNew = isSelected && tab.getAttribute("aria-selected") !== "true";
        tab.setAttribute("aria-selected", String(isSelected));
        if (isNew) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
        tab.tabIndex = isSelected ? 0 : -1;
      }
    },
  };
}
