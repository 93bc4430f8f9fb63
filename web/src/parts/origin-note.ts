/** Shows next to the tabs that results belong to another run, and dims them. */

import { RECORDED } from "../page/run-origin";
import type { Page } from "../page/page";
import type { Panel } from "../page/page";
import type { Part } from "../page/view";

/** Delay before the previous results are dimmed, so that short runs do not flicker. */
const LEAST_RUN_MS = 300;

export function mountOrigin(
  host: HTMLElement,
  page: Page,
  sections: readonly { panel: Panel; section: HTMLElement }[],
): Part {
  const results = sections.filter(({ panel }) => panel.pane === "results");
  let waiting = 0;
  const draw = (): void => {
    let text = "";
    for (const { panel, section } of results) {
      const originText = page.originNote(panel);
      section.toggleAttribute("data-stale", originText !== null && originText !== RECORDED);
      if (panel.id === page.view.result) text = originText ?? "";
    }
    if (host.textContent !== text) host.textContent = text;
    host.hidden = text === "";
  };
  return {
    update: (view) => {
      clearTimeout(waiting);
      if (view.state === "running") waiting = window.setTimeout(draw, LEAST_RUN_MS);
      else draw();
    },
  };
}
