/** Panes and tabs: two columns with movable splitters, one column with tabs when narrow. */

import { el, find } from "./dom";
import type { Page, Part, Tab } from "../page/page";
import { recall, remember } from "../page/storage";

const TABS = [
  { name: "code", label: "Code", panel: "editor" },
  { name: "output", label: "Output", panel: "output" },
  { name: "tensors", label: "Tensors", panel: "tensors" },
  { name: "kernels", label: "Kernels", panel: "kernels" },
] as const;
const NARROW = "(max-width: 719px)";

export function mountLayout(host: HTMLElement, page: Page): Part {
  const workbench = find("#workbench");
  const all = tabList(find("#tabs"), TABS.map(({ name }) => name), "All parts", page);
  const results = tabList(find("#result-tabs"), ["tensors", "kernels"], "Results", page);
  splitter(find("#split-columns"), workbench, "--columns", "column", 52);
  splitter(find("#split-rows"), find("#code-pane"), "--rows", "row", 62);
  const narrow = matchMedia(NARROW);
  return {
    dom: host,
    begin: () => {
      if (narrow.matches) page.showTab("output");
    },
    update: (view) => {
      host.dataset["state"] = view.state;
      host.setAttribute("aria-busy", String(view.state === "loading"));
      host.dataset["tab"] = view.tab;
      host.dataset["result"] = view.results;
      all.show(view.tab);
      results.show(view.results);
    },
    dispose: () => undefined,
  };
}

/** Tabs by the ARIA pattern: one is in the tab order, arrow keys move between them. */
function tabList(
  host: HTMLElement,
  names: readonly Tab[],
  label: string,
  page: Page,
): { show(tab: Tab): void } {
  host.setAttribute("role", "tablist");
  host.setAttribute("aria-label", label);
  const tabs = TABS.filter(({ name }) => names.includes(name)).map(({ name, label: text, panel }) => {
    const tab = el("button", { type: "button", role: "tab", "aria-controls": panel, "data-tab": name }, text);
    tab.addEventListener("click", () => page.showTab(name));
    return tab;
  });
  host.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const index = tabs.indexOf(document.activeElement as HTMLButtonElement);
    if (!step || index < 0) return;
    event.preventDefault();
    const next = tabs[(index + step + tabs.length) % tabs.length];
    next?.focus();
    next?.click();
  });
  host.append(...tabs);
  return {
    show: (name) => {
      for (const tab of tabs) {
        const chosen = tab.dataset["tab"] === name;
        tab.setAttribute("aria-selected", String(chosen));
        tab.tabIndex = chosen ? 0 : -1;
      }
    },
  };
}

/** A bar between two panes: drag it, or move it by arrow keys, Home and End. */
function splitter(
  bar: HTMLElement,
  pane: HTMLElement,
  property: string,
  direction: "row" | "column",
  usual: number,
): void {
  const key = `split${property}`;
  const set = (percent: number): void => {
    const value = Math.round(Math.min(Math.max(percent, 20), 80));
    pane.style.setProperty(property, `${value}%`);
    bar.setAttribute("aria-valuenow", String(value));
    remember(key, value === usual ? null : String(value));
  };
  bar.setAttribute("aria-valuemin", "20");
  bar.setAttribute("aria-valuemax", "80");
  set(Number(recall(key) ?? usual) || usual);
  const current = (): number => Number(bar.getAttribute("aria-valuenow"));
  bar.addEventListener("keydown", (event) => {
    const steps: Record<string, number> = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2, Home: -100, End: 100 };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    set(current() + step);
  });
  bar.addEventListener("dblclick", () => set(usual));
  bar.addEventListener("pointerdown", (event) => {
    bar.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  bar.addEventListener("pointermove", (event) => {
    if (!bar.hasPointerCapture(event.pointerId)) return;
    const box = pane.getBoundingClientRect();
    const part =
      direction === "column"
        ? (event.clientX - box.left) / box.width
        : (event.clientY - box.top) / box.height;
    set(part * 100);
  });
}
