/** The dialog that shares the open program: a link, fingerprints of results, HTML of a frame. */

import { button, el } from "./dom";
import type { Page } from "../page/page";
import type { Fingerprint } from "../page/protocol";
import type { View } from "../page/view";
import { messageOf } from "../page/session";
import { shared, whyNoResults } from "../page/sharing";
import { lesson, walked, type Step } from "../page/walk";

export interface ShareDialog {
  dom: HTMLDialogElement;
  open(): void;
  /** Note what the reader looks at. */
  update(view: View): void;
}

export function shareDialog(page: Page): ShareDialog {
  const link = el("input", { type: "text", readonly: true, class: "share-link", "aria-label": "Link", spellcheck: "false" });
  const frame = el("textarea", { readonly: true, rows: 3, class: "share-frame", "aria-label": "HTML of the frame", spellcheck: "false" });
  const status = el("p", { class: "share-said", role: "status" });
  const copyLink = button("Copy link", () => void copy(link, "The link is copied."), { class: "primary" });
  const copyFrame = button("Copy HTML", () => void copy(frame, "The HTML is copied."));
  const walkText = el("textarea", { readonly: true, rows: 3, class: "share-frame", "aria-label": "Lesson", spellcheck: "false" });
  const copyLesson = button("Copy as lesson", () => void copy(walkText, "The lesson is copied."));
  let walk: readonly Step[] = [];
  /** The program through whose results the walk leads, and its text. */
  let walkedIn = "";
  let walkedSource = "";
  let filling = 0;
  const tick = el("input", { type: "checkbox" });
  const why = el("span", { class: "share-why", id: "share-why" });
  tick.setAttribute("aria-describedby", why.id);
  const compare = el("label", { class: "share-compare" }, tick, el("span", {}, "Let the reader’s page compare its results with these"));
  const dom = el(
    "dialog",
    { class: "share", "aria-labelledby": "share-title" },
    el("h2", { id: "share-title" }, "Share this program"),
    el("p", {}, "The program is in the link itself, with the panel, the tensor, the slice, the scale, the cell or the step that you look at; no server keeps it. It runs only when its reader presses Run."),
    el("div", { class: "share-row" }, link, copyLink),
    compare,
    why,
    el("h3", {}, "Lesson"),
    el("p", {}, "What you looked at in the results of this program, as numbered steps in Markdown, each with a link."),
    el("div", { class: "share-row" }, walkText, copyLesson),
    el("h3", {}, "Embed"),
    el("p", {}, "This frame shows the program in another page, with Run and its results."),
    el("div", { class: "share-row" }, frame, copyFrame),
    status,
    el("div", { class: "dialog-actions" }, button("Close", () => dom.close(), { class: "quiet" })),
  );
  dom.addEventListener("click", (event) => {
    if (event.target === dom) dom.close();
  });
  const copy = async (field: HTMLInputElement | HTMLTextAreaElement, done: string): Promise<void> => {
    try {
      await navigator.clipboard.writeText(field.value);
      status.textContent = done;
    } catch {
      field.select();
      status.textContent = "The browser refused to copy; press Ctrl or ⌘ and C.";
    }
  };
  const fill = async (): Promise<void> => {
    const mine = ++filling;
    let results: Fingerprint[] | null = null;
    status.textContent = "";
    try {
      if (tick.checked) results = await page.request("fingerprint", {});
    } catch (error) {
      if (mine !== filling) return;
      tick.checked = false;
      status.textContent = `The results could not be read: ${messageOf(error)}`;
    }
    const made = await shared(page, results);
    if (mine !== filling) return;
    link.value = made.link;
    frame.value = made.frame;
    const first = await shared(page, null, { ...page.view, result: "", tensor: "", viewSettings: null, focus: null });
    const steps: { text: string; link: string }[] = [];
    for (const { text, looked } of walk) steps.push({ text, link: (await shared(page, null, looked)).link });
    if (mine !== filling) return;
    walkText.value = lesson(page.view.document.title, first.link, steps);
    copyLesson.disabled = walk.length === 0;
    if (made.isLong) status.textContent = "The link is long; some programs cut it.";
  };
  tick.addEventListener("change", () => void fill());
  return {
    dom,
    update: (view) => {
      const { phase, origins, document } = view;
      if (phase !== "idle" || origins.output?.document !== document.id || origins.output.recorded) return;
      const { source } = origins.output;
      if (walkedIn !== document.id || walkedSource !== source) walk = [];
      [walkedIn, walkedSource] = [document.id, source];
      walk = walked(walk, view, (panel) => page.panels.find(({ id }) => id === panel)?.label ?? panel);
    },
    open: () => {
      const problem = whyNoResults(page.view);
      tick.disabled = problem !== null;
      tick.checked &&= !tick.disabled;
      why.textContent = problem ?? "Integers must be equal, floats to 0.1 % of a tensor’s largest magnitude (float16 to 1 %, bfloat16 to 8 %).";
      dom.showModal();
      copyLink.focus();
      void fill();
    },
  };
}
