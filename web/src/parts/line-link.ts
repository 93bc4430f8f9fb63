/** A button that goes to a line of the program that ran, and highlights it on hover. */

import type { Page } from "../page/page";
import { MAIN } from "../page/program";
import { lineNow } from "../page/run-origin";
import { button } from "./dom";

/** A line of a file of the last run's program, as it was then. */
export interface RunLine {
  line: number;
  file?: string;
}

/** The current index of the line, null if the program no longer has it. */
export function presentLine({ view, editor }: Page, { line, file = MAIN }: RunLine): number | null {
  const origin = view.origins.run;
  const isOpen = origin?.document === view.document.id;
  const text = editor.files().find(({ name }) => name === file)?.text;
  return isOpen && text !== undefined ? lineNow(origin, text, line, file) : line;
}

/** `lights` is false where pointing at the link is not to highlight the line. */
export function lineLink(page: Page, target: RunLine, lights = true): HTMLButtonElement {
  const { line, file = MAIN } = target;
  const go = (): void => {
    const now = presentLine(page, target);
    if (now === null) page.warn(`The line ${line} that ran is not in the program any more.`);
    else page.goTo(page.view.origins.run, now, 0, file);
  };
  const link = button(file === MAIN ? `line ${line}` : `${file}, line ${line}`, go, { class: "line-link" });
  const light = (isOn: boolean) => (): void => page.light(page.view.origins.run, isOn ? presentLine(page, target) : null, file);
  if (!lights) return link;
  for (const event of ["pointerenter", "focus"]) link.addEventListener(event, light(true));
  for (const event of ["pointerleave", "blur"]) link.addEventListener(event, light(false));
  return link;
}
