/** One line above the work: where the code came from, what the browser lacks. */

import { button, el } from "./dom";
import type { Notice, Page, Part, View } from "../page/page";

export function mountNotice(host: HTMLElement, page: Page): Part {
  const text = el("span");
  const buttons = el("span", { class: "notice-actions" });
  host.append(text, buttons);
  let hosts: Notice | null = null;
  let asked: string | null = null;
  let told = false;
  const close = { label: "Close", run: () => page.change({ notice: null }) };
  return {
    dom: host,
    update: (view) => {
      if (view.started && !told) {
        told = true;
        const lack = whatIsMissing(view);
        if (lack && !view.notice) queueMicrotask(() => page.warn(lack));
      }
      if (view.notice === hosts && view.conflict === asked) return;
      hosts = view.notice;
      asked = view.conflict;
      const shown = asked === null ? hosts : question(asked, page);
      host.hidden = !shown;
      host.dataset["kind"] = shown?.kind ?? "info";
      text.textContent = shown?.text ?? "";
      const actions = shown?.actions ?? [];
      const all = asked === null ? [...actions, close] : actions;
      buttons.replaceChildren(...all.map(({ label, run }) => button(label, run, { class: "quiet" })));
    },
    dispose: () => host.replaceChildren(),
  };
}

/** Two tabs have one program: neither version is lost without an answer. */
function question(title: string, page: Page): Notice {
  return {
    kind: "warning",
    text: `“${title}” was changed in another tab. Which version do you want?`,
    actions: [
      { label: "Keep mine", run: () => page.workspace.keepMine() },
      { label: "Take theirs", run: () => page.workspace.takeTheirs() },
    ],
  };
}

/** Say in plain words what this browser cannot do and what happens instead. */
function whatIsMissing({ started }: View): string | null {
  if (!started) return null;
  if (!started.adapter && !started.numpy) {
    return `${started.reason} NumPy is not on this site either, so plain Python runs and tensors do not. Use a current Chrome, Edge, Safari or Firefox with WebGPU, or build the site with a NumPy wheel (build.py site --wheels).`;
  }
  if (!started.adapter) {
    return `${started.reason} Everything works, computed on the CPU by NumPy. For the GPU use a current Chrome, Edge, Safari or Firefox.`;
  }
  if (!started.blocking) {
    return "This browser cannot wait for the GPU inside Python: write “await x.tolist_async()” to see values, or choose the CPU.";
  }
  return null;
}
