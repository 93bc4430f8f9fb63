/** Run and Stop, and the program's state in the status bar. */

import { ICONS, button, el, find, icon } from "./dom";
import { duration } from "./format";
import type { Page } from "../page/page";
import type { Part, View } from "../page/view";

const APPLE = /Mac|iPhone|iPad/.test(navigator.platform);
const LEAST_SHOWN = 100;
/** Milliseconds between two presses of Escape that stop the program. */
const TWICE_MS = 700;

/** Shortcuts with Ctrl or ⌘ that work everywhere on the page. */
const ACTIONS: Record<string, (page: Page) => void> = {
  Enter: (page) => page.run(),
  ".": (page) => page.stop(),
};

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
  run.title = `Run the program (${APPLE ? "⌘ Enter" : "Ctrl+Enter"})`;
  const stop = button("", () => page.stop(), {
    id: "stop",
    title: `Stop the program (${APPLE ? "⌘ ." : "Ctrl+."}, or Esc twice)`,
    "aria-keyshortcuts": APPLE ? "Meta+." : "Control+.",
  });
  stop.append(icon(ICONS.stop), el("span", {}, "Stop"));
  const state = find("#state");
  host.append(run, stop);

  let escaped = -Infinity;
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.repeat) {
      if (event.timeStamp - escaped < TWICE_MS) page.stop();
      escaped = event.timeStamp;
      return;
    }
    const action = event.ctrlKey || event.metaKey ? ACTIONS[event.key] : undefined;
    if (!action || event.defaultPrevented) return;
    event.preventDefault();
    action(page);
  });

  let began = 0;
  let later = 0;
  return {
    begin: () => {
      began = performance.now();
    },
    update: (view) => {
      clearTimeout(later);
      const busy = view.state === "running" || view.queued;
      run.setAttribute("aria-disabled", String(view.state === "running" || view.held));
      runLabel.textContent = view.queued ? "Queued" : "Run";
      stop.disabled = !busy;
      const draw = (): void => {
        state.textContent = stateText(view);
      };
      // Show the state of a short run long enough to be noticed.
      const rest = LEAST_SHOWN - (performance.now() - began);
      if (!busy && rest > 0) later = window.setTimeout(draw, rest);
      else draw();
    },
  };
}

function stateText(view: View): string {
  if (view.queued) return "Runs when Python is ready";
  if (view.phase === "reading") return "Reading tensors…";
  if (view.state === "running") return "Running…";
  if (!view.run || view.state === "loading") return "";
  if (view.origins.output?.recorded) return "";
  if (view.run.stopped) return "Stopped";
  if (view.origins.output?.document !== view.document.id) return "";
  if (view.origins.run?.run !== view.origins.output?.run) return "";
  const again = view.run.again ? `, ${view.run.again}` : "";
  return `${view.run.error ? "Failed after" : "Done in"} ${duration(view.run.seconds)}${again}`;
}
