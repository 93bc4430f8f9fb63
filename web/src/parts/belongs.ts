/** Says beside the results' tabs when they belong to another run, and dims them. */

import { find } from "./dom";
import { belongsTo } from "../page/origin";
import type { Page, Part, View } from "../page/page";

/** Results of the run before stay undimmed while a run lasts for a moment only. */
const LEAST_RUN = 300;

export function mountBelongs(host: HTMLElement, page: Page): Part {
  const panels = { tensors: find("#tensors"), kernels: find("#kernels") };
  let waiting = 0;
  const draw = (): void => {
    const { view } = page;
    const told = {
      tensors: view.tensors.length > 0 ? belongsTo(view, "tensors") : null,
      kernels: (view.run?.kernels.length ?? 0) > 0 ? belongsTo(view, "kernels") : null,
    };
    panels.tensors.toggleAttribute("data-stale", told.tensors !== null);
    panels.kernels.toggleAttribute("data-stale", told.kernels !== null);
    const text = told[view.tab === "kernels" || view.results === "kernels" ? "kernels" : "tensors"] ?? "";
    if (host.textContent !== text) host.textContent = text;
    host.hidden = text === "";
  };
  return {
    dom: host,
    update: (view: View) => {
      clearTimeout(waiting);
      if (view.state === "running") waiting = window.setTimeout(draw, LEAST_RUN);
      else draw();
    },
    dispose: () => clearTimeout(waiting),
  };
}
