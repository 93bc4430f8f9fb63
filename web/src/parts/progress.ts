/** Loading progress in bytes and steps, hidden when Python is ready. */

import { el } from "./dom";
import type { Page } from "../page/page";
import type { Part, View } from "../page/view";

export function mountProgress(host: HTMLElement, _page: Page): Part {
  const text = el("span", { class: "progress-text" });
  const bar = el("progress", { "aria-label": "Loading" });
  const hint = el("span", { class: "progress-hint" }, "You can type now; Run waits for Python.");
  const status = el("span", { class: "visually-hidden", role: "status" });
  host.append(text, bar, hint, status);
  return {
    update: (view) => {
      host.hidden = view.state !== "loading";
      if (host.hidden) {
        status.textContent = view.started ? "Python is ready" : "";
        return;
      }
      const { done, total } = view.loading;
      text.textContent = stepText(view);
      if (total > 0 && done < total) {
        bar.max = total;
        bar.value = done;
      } else {
        bar.removeAttribute("value");
      }
    },
  };
}

function stepText({ loading: { text, done, total } }: View): string {
  if (total === 0) return text;
  if (done >= total) return "Starting Python";
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  return `${text} ${megabytes(done)}/${megabytes(total)} MB`;
}
