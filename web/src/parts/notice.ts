/** One line above the work: where the code came from, what the browser lacks. */

import { button, el } from "../dom";
import type { Notice, Page, Part, View } from "../page";

export function mountNotice(host: HTMLElement, page: Page): Part {
  const text = el("span");
  const close = button("Close", () => page.change({ notice: null }), { class: "quiet" });
  host.append(text, close);
  let hosts: Notice | null = null;
  let told = false;
  return {
    dom: host,
    update: (view) => {
      if (view.started && !told) {
        told = true;
        const lack = whatIsMissing(view);
        if (lack && !view.notice) queueMicrotask(() => page.warn(lack));
      }
      if (view.notice === hosts) return;
      hosts = view.notice;
      host.hidden = !hosts;
      host.dataset["kind"] = hosts?.kind ?? "info";
      text.textContent = hosts?.text ?? "";
    },
    dispose: () => host.replaceChildren(),
  };
}

/** Say in plain words what this browser cannot do and what happens instead. */
function whatIsMissing({ started }: View): string | null {
  if (!started) return null;
  if (!started.adapter && !started.numpy) {
    return `${started.reason} NumPy is not on this site either, so nothing can compute here. Use a current Chrome, Edge, Safari or Firefox with WebGPU, or build the site with a NumPy wheel (build.py site --wheels).`;
  }
  if (!started.adapter) {
    return `${started.reason} Everything works, computed on the CPU by NumPy. For the GPU use a current Chrome, Edge, Safari or Firefox.`;
  }
  if (!started.blocking) {
    return "This browser cannot wait for the GPU inside Python: write “await x.tolist_async()” to see values, or choose the CPU.";
  }
  return null;
}
