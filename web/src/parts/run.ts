/** Run and Stop, with the program's state beside them. */

import { ICONS, button, el, icon } from "../dom";
import { duration } from "../format";
import type { Page, Part, View } from "../page";

const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const LEAST_SHOWN = 100;

export function mountRun(host: HTMLElement, page: Page): Part {
  const keys = APPLE ? "⌘⏎" : "Ctrl ⏎";
  const shortcut = el("kbd", { "aria-hidden": "true" }, keys);
  const runLabel = el("span", {}, "Run");
  const run = button("", () => page.run(), {
    id: "run",
    class: "primary",
    "aria-keyshortcuts": APPLE ? "Meta+Enter" : "Control+Enter",
  });
  run.append(icon(ICONS.run), runLabel, shortcut);
  const stop = button("", () => page.stop(), { id: "stop" });
  stop.append(icon(ICONS.stop), el("span", {}, "Stop"));
  const state = el("span", { id: "state", role: "status" });
  host.append(run, stop, state);

  const onKey = (event: KeyboardEvent): void => {
    const isRun = (event.ctrlKey || event.metaKey) && event.key === "Enter";
    if (!isRun || event.defaultPrevented) return;
    event.preventDefault();
    page.run();
  };
  document.addEventListener("keydown", onKey);

  let began = 0;
  let later = 0;
  return {
    dom: host,
    begin: () => {
      began = performance.now();
    },
    update: (view) => {
      clearTimeout(later);
      const busy = view.state === "running" || view.queued;
      run.setAttribute("aria-disabled", String(view.state === "running"));
      runLabel.textContent = view.queued ? "Queued" : "Run";
      stop.disabled = !busy;
      const draw = (): void => {
        document.body.dataset["busy"] = String(busy);
        state.textContent = stateText(view);
      };
      // What runs for a moment only is shown long enough to be seen.
      const rest = LEAST_SHOWN - (performance.now() - began);
      if (!busy && rest > 0) later = window.setTimeout(draw, rest);
      else draw();
    },
    dispose: () => {
      clearTimeout(later);
      document.removeEventListener("keydown", onKey);
    },
  };
}

function stateText(view: View): string {
  if (view.queued) return "Runs when Python is ready";
  if (view.state === "running") return "Running…";
  if (!view.run || view.state === "loading") return "";
  if (view.run.stopped) return "Stopped";
  return `${view.run.error ? "Failed after" : "Done in"} ${duration(view.run.seconds)}`;
}
