/** The toolbar at every width: buttons that do not fit shrink or move into the menu. */

import { find } from "./dom";
import type { Part } from "../page/view";

/** The steps by which the toolbar shrinks, in order; `page.css` defines what each hides. */
const STEPS: readonly string[] = [
  "tool-labels",
  "run-key",
  "device-name",
  "example-steps",
  "brand",
  "examples-label",
  "theme",
  "reset",
  "stop-label",
  "help",
];

/** Fit the toolbar to its own width, now and whenever that changes. */
export function mountToolbar(host: HTMLElement): Part {
  let width = -1;
  const fit = (): void => {
    if (host.clientWidth === width) return;
    width = host.clientWidth;
    host.dataset["fit"] = "";
    for (let taken = 1; taken <= STEPS.length && isTooWide(host); taken++) {
      host.dataset["fit"] = STEPS.slice(0, taken).join(" ");
    }
  };
  fit();
  new ResizeObserver(fit).observe(host);
  // Touch needs wider buttons.
  matchMedia("(pointer: coarse)").addEventListener("change", () => {
    width = -1;
    fit();
  });
  return { update: () => undefined };
}

/** Whether a slot overflows the toolbar's content box. */
function isTooWide(host: HTMLElement): boolean {
  const { paddingRight } = getComputedStyle(host);
  const end = host.getBoundingClientRect().right - Number.parseFloat(paddingRight);
  return [...host.children].some((slot) => slot.getBoundingClientRect().right > end + 0.5);
}

/** Whether a command of the toolbar has moved into the menu. */
export function isInMenu(step: string): boolean {
  return find("#toolbar").dataset["fit"]?.split(" ").includes(step) ?? false;
}
