/** Makes the panels' elements and tabs, and shows the visible ones. */

import { el, find } from "./dom";
import { mountOrigin } from "./origin-note";
import { splitter } from "./splitter";
import { mountTabs } from "./tabs";
import type { Page } from "../page/page";
import { type Panel } from "../page/page";
import { type Pane, type Part, type View, isShown } from "../page/view";

export function mountLayout(host: HTMLElement, page: Page): Part {
  const workbench = find("#workbench");
  const panes = {
    program: find("[data-pane='program']", workbench),
    results: find("[data-pane='results']", workbench),
  };
  const sections = page.panels.map((panel) => ({ panel, section: sectionOf(panel) }));
  const within = (pane: Pane): HTMLElement[] =>
    sections.filter(({ panel }) => panel.pane === pane).map(({ section }) => section);
  const [first, ...others] = within("program");
  const rows = el("div", ROWS);
  const resultTabs = el("div", { class: "result-tabs" });
  const note = el("p", { id: "origin-note", class: "origin-note", hidden: true });
  const head = el("div", { class: "result-head" }, resultTabs, note);
  panes.program.append(first ?? "", rows, ...others);
  panes.results.append(head, ...within("results"));
  splitter(rows, panes.program, "--rows", "row", 62);
  splitter(find("#split-columns"), workbench, "--columns", "column", 52);
  const isResult = ({ pane }: Panel): boolean => pane === "results";
  const tabs = mountTabs(find("#tabs"), "All parts", page.panels, page);
  const someTabs = mountTabs(resultTabs, "Results", page.panels.filter(isResult), page);
  page.add(mountOrigin(note, page, sections));
  return {
    update: (view) => {
      host.dataset["state"] = view.state;
      host.setAttribute("aria-busy", String(view.state === "loading"));
      document.documentElement.dataset["theme"] = view.theme;
      for (const { panel, section } of sections) arrange(section, panel, view);
      for (const pane of Object.values(panes)) {
        pane.hidden = !pane.querySelector(":scope > .panel:not([hidden])");
      }
      tabs.select(view.panel);
      someTabs.select(view.result);
    },
  };
}

const ROWS = {
  id: "split-rows",
  class: "splitter",
  role: "separator",
  "aria-orientation": "horizontal",
  "aria-label": "Height of the editor",
  tabindex: 0,
};

/** A panel whose content overflows scrolls, so it must be focusable. */
function sectionOf({ id, label }: Panel): HTMLElement {
  return el("section", { id, class: "panel", "aria-label": label, tabindex: 0 });
}

/** Show or hide a panel; a panel without a tab is a region. */
function arrange(section: HTMLElement, panel: Panel, view: View): void {
  section.hidden = !isShown(panel, view);
  const hasTab = view.isNarrow || panel.pane === "results";
  section.setAttribute("role", hasTab ? "tabpanel" : "region");
}
