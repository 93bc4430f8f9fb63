/** A button that copies the visible picture, or saves it where copying is not possible. */

import { ICONS, button, el, icon } from "../../parts/dom";
import type { Page } from "../../page/page";

const LABEL = "Copy picture";
const TOLD_MS = 2000;

/** Make the button; `draw` returns the sheet, null if there is no picture. */
export function copyPicture(page: Page, draw: () => HTMLCanvasElement | null, name: () => string): HTMLButtonElement {
  let later = 0;
  const label = el("span", { class: "visually-hidden", "aria-live": "polite" });
  const say = (words: string): void => {
    label.textContent = words;
    node.replaceChildren(icon(words === LABEL ? ICONS.copy : ICONS.done), label);
    clearTimeout(later);
    if (words !== LABEL) later = window.setTimeout(() => say(LABEL), TOLD_MS);
  };
  const copy = async (): Promise<void> => {
    const sheet = draw();
    if (!sheet) return;
    const png = pngOf(sheet);
    try {
      // Safari needs the promise itself, since user activation expires before the file is ready.
      await navigator.clipboard.write([new ClipboardItem({ "image/png": png })]);
      say("Copied");
    } catch {
      hand(await png, name());
      say("Downloaded");
    }
  };
  const node = button(
    "",
    () => {
      copy().catch((error: unknown) => page.warn(`The picture could not be made: ${String(error)}`));
    },
    { class: "quiet copy-picture", title: "Copy the picture with its name and scale; a file where the browser refuses" },
  );
  say(LABEL);
  return node;
}

function pngOf(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("it is too large"))), "image/png");
  });
}

function hand(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name.replace(/[^\w.-]+/g, "-").slice(0, 60) || "tensor"}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
}
