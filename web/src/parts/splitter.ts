/** A bar between two panels or panes: drag it, or move it by arrow keys, Home and End. */

import { recall, remember } from "../page/storage";

const LEAST = 20;
const MOST = 80;
const STEPS: Record<string, number> = {
  ArrowLeft: -2,
  ArrowUp: -2,
  ArrowRight: 2,
  ArrowDown: 2,
  Home: -100,
  End: 100,
};

/** Let a bar set a custom property of the pane around it, in percent of the pane. */
export function splitter(
  bar: HTMLElement,
  pane: HTMLElement,
  property: string,
  direction: "row" | "column",
  usual: number,
): void {
  const key = `split${property}`;
  const set = (percent: number): void => {
    const value = Math.round(Math.min(Math.max(percent, LEAST), MOST));
    pane.style.setProperty(property, `${value}%`);
    bar.setAttribute("aria-valuenow", String(value));
    remember(key, value === usual ? null : String(value));
  };
  bar.setAttribute("aria-valuemin", String(LEAST));
  bar.setAttribute("aria-valuemax", String(MOST));
  set(Number(recall(key) ?? usual) || usual);
  const current = (): number => Number(bar.getAttribute("aria-valuenow"));
  bar.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
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
