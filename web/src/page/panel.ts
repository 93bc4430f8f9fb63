/** What a panel is: a tab, a pane to stand in, and a function that mounts it. */

import type { Page, Part, View } from "./page";

/** The panels of the program stand below each other, those of results one at a time. */
export type Pane = "program" | "results";

export interface Panel {
  /** Names its folder and its element. */
  id: string;
  /** The label of its tab. */
  label: string;
  pane: Pane;
  mount(host: HTMLElement, page: Page): Part;
}

/** Whether a panel is on the screen; a narrow page has room for one. */
export function isShown({ id, pane }: Panel, view: View): boolean {
  if (view.isNarrow) return id === view.panel;
  return pane === "program" || id === view.result;
}
