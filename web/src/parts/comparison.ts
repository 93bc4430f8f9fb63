/** Reports after a run of a link's program whether the results equal the sender's. */

import { compared } from "../page/fingerprint";
import type { Page } from "../page/page";
import { messageOf } from "../page/session";
import type { Part, View } from "../page/view";

export function mountComparison(page: Page): Part {
  let comparedRun = 0;
  const compare = async (view: View): Promise<void> => {
    const { sent, origins } = view;
    const run = origins.tensors?.run ?? 0;
    if (!sent || !isItsRun(view) || run === comparedRun) return;
    comparedRun = run;
    try {
      const here = await page.request("fingerprint", {});
      if (page.view.origins.output?.run !== run || page.view.sent !== sent) return;
      const { isSame, text } = compared(sent, here);
      page.notify({ kind: isSame ? "info" : "warning", text });
    } catch (error) {
      page.warn(`The results could not be compared with the sender’s: ${messageOf(error)}`);
    }
  };
  return { update: (view) => void compare(view) };
}

/** Whether the tensors are results of the unedited program, run to its end. */
function isItsRun({ state, document, origins, run }: View): boolean {
  const { output, tensors } = origins;
  if (state !== "ready" || !tensors || tensors !== output || tensors.document !== document.id) return false;
  return tensors.source === document.original && run !== null && !run.error && !run.stopped;
}
