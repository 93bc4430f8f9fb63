/** One line of introduction with links and the tour, until the reader closes it. */

import { beginTour } from "./tour";
import { button, el, find } from "./dom";
import type { Page } from "../page/page";
import { remember } from "../page/storage";
import type { Part } from "../page/view";

/** The address of the documentation, relative to the page. */
const LINKS = {
  documentation: "docs/index.html",
  source: "docs/index.html#source",
} as const;

const CLOSED = "intro";

export function mountIntro(host: HTMLElement, page: Page): Part {
  find(".intro-links", host).append(...links(), button("Tour", () => beginTour(page), { class: "link", title: "Seven steps around the page, in two minutes" }));
  const close = button("×", () => closed(), { class: "quiet", "aria-label": "Close this line", title: "Close; Help has the links and the tour" });
  host.append(close);
  const closed = (): void => {
    remember(CLOSED, "closed");
    document.documentElement.dataset["intro"] = "closed";
  };
  return { update: () => undefined };
}

/** Links to the documents and the source, each in a tab of its own: the program stays. */
export function links(): HTMLElement[] {
  const link = (name: keyof typeof LINKS, label: string): HTMLElement =>
    el("a", { href: LINKS[name], target: "_blank", rel: "noopener", class: "link" }, label);
  return [link("documentation", "Documentation"), link("source", "Source")];
}
