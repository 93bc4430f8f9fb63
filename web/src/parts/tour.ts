/** A tour of the page in a few steps, each a card next to the part that it explains. */

import { button, el } from "./dom";
import type { Page } from "../page/page";
import { recallInTab, rememberInTab } from "../page/storage";

interface Step {
  /** The element that the card points at; on a narrow page its panel is brought to the front. */
  at: string;
  title: string;
  text: string;
}

const STEPS: readonly Step[] = [
  { at: ".cm-editor", title: "Your program", text: "Python, in this tab. Change anything: your version is kept in this browser, and the example stays as it was." },
  { at: "#run", title: "Run", text: "Ctrl or ⌘ and Enter run it, wherever you are. Stop ends it, even in the middle of a loop." },
  { at: "#device", title: "The device", text: "Your own GPU computes through WebGPU. Choose CPU to compare: the same program runs there." },
  { at: ".output-content", title: "The output", text: "What the program prints, what it shows with tw.show(x), and where it failed, with a link to the line." },
  { at: "[data-pane='results']", title: "The results", text: "Every tensor of the run as a picture. Point at a cell to read its number, or walk with the arrow keys." },
  { at: "#document", title: "Your programs", text: "All that you have changed, to open, rename, copy or delete." },
  { at: "#examples", title: "Examples", text: "Things to learn, to see and to measure. Choose one, change a number, run it again." },
];

const GAP = 12;
/** Key of the current step of this tab's tour. */
const PLACE = "tour";

/** Resume a tour after a reload of the page. */
export function resumeTour(page: Page): void {
  const current = Number(recallInTab(PLACE));
  if (recallInTab(PLACE) !== null && STEPS[current]) beginTour(page, current);
}

/** Begin the tour; Escape or Skip ends it and restores the focus. */
export function beginTour(page: Page, from = 0): void {
  const title = el("h2", { id: "tour-title", tabindex: -1 });
  const text = el("p", { id: "tour-text" });
  const count = el("span", { class: "tour-count" });
  const back = button("Back", () => show(current - 1), { class: "quiet" });
  const next = button("Next", () => show(current + 1), { class: "primary" });
  const skip = button("Skip", () => end(), { class: "quiet" });
  const card = el(
    "section",
    { class: "tour", role: "dialog", "aria-labelledby": "tour-title", "aria-describedby": "tour-text" },
    title,
    text,
    el("div", { class: "dialog-actions" }, count, skip, back, next),
  );
  const before = document.activeElement;
  let current = 0;
  let target: Element | null = null;
  const end = (): void => {
    rememberInTab(PLACE, null);
    target?.classList.remove("toured");
    removeEventListener("resize", put);
    card.remove();
    if (before instanceof HTMLElement) before.focus();
  };
  const put = (): void => {
    const box = target?.getBoundingClientRect();
    if (!box) return;
    const { offsetWidth: width, offsetHeight: height } = card;
    const isBelow = box.bottom + GAP + height < innerHeight;
    const top = isBelow ? box.bottom + GAP : Math.max(GAP, Math.min(box.top + GAP, innerHeight - height - GAP));
    const left = isBelow ? box.left : box.right + GAP + width < innerWidth ? box.right + GAP : box.right - width - GAP;
    card.style.top = `${top}px`;
    card.style.left = `${Math.max(GAP, Math.min(left, innerWidth - width - GAP))}px`;
  };
  const show = (at: number): void => {
    const step = STEPS[at];
    if (!step) return end();
    current = at;
    rememberInTab(PLACE, String(at));
    target?.classList.remove("toured");
    target = document.querySelector(step.at);
    const panel = page.panels.find(({ id }) => id === target?.closest(".panel")?.id);
    const results = page.panels.find(({ pane }) => step.at.includes(pane));
    if (page.view.isNarrow && (panel ?? results)) page.show((panel ?? results)?.id ?? "");
    target?.classList.add("toured");
    title.textContent = step.title;
    text.textContent = step.text;
    count.textContent = `${at + 1} of ${STEPS.length}`;
    back.disabled = at === 0;
    next.textContent = at === STEPS.length - 1 ? "Done" : "Next";
    put();
    title.focus();
  };
  card.addEventListener("keydown", (event) => {
    if (event.key === "Escape") end();
    else if (event.key === "ArrowRight") show(current + 1);
    else if (event.key === "ArrowLeft" && current > 0) show(current - 1);
  });
  addEventListener("resize", put);
  document.body.append(card);
  show(from);
}
