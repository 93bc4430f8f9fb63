/** A button that copies the text of a part of the page. */

import { button } from "../../parts/dom";
import type { Page } from "../../page/page";

const TOLD_MS = 2000;

/** Make the button; `text` returns the text to copy when it is pressed. */
export function copyButton(page: Page, what: string, text: () => string): HTMLButtonElement {
  let later = 0;
  const say = (words: string): void => {
    copy.textContent = words;
    clearTimeout(later);
    if (words !== "Copy") later = window.setTimeout(() => say("Copy"), TOLD_MS);
  };
  const copy = button(
    "Copy",
    () => {
      navigator.clipboard.writeText(text()).then(
        () => say("Copied"),
        () => page.warn(`The browser refused to copy; select the ${what} and press Ctrl+C.`),
      );
    },
    { class: "copy", title: `Copy the ${what}`, "aria-live": "polite" },
  );
  return copy;
}
