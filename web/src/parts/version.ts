/** A newer version of the page: announced quietly, loaded on request or at the next visit. */

import { button } from "./dom";
import { cacheSite, takeNewVersion } from "../page/service-worker-client";
import type { Page } from "../page/page";
import type { Part } from "../page/view";

const OTHERS = "Other tabs still use the version that you have. Close them, then take the new one.";

export function mountVersion(host: HTMLElement, page: Page): Part {
  let isKeeping = false;
  const take = async (): Promise<void> => {
    page.editor.flush();
    if (!(await takeNewVersion())) page.notify({ kind: "info", text: OTHERS });
  };
  const offer = button("New version ready", () => void take(), { class: "quiet" });
  offer.title = "Loads the page anew: programs stay, results go";
  return {
    update: ({ started, phase }) => {
      if (isKeeping || !started || phase !== "idle") return;
      isKeeping = true;
      // Without storage nothing is lost.
      void cacheSite(() => host.replaceChildren(offer)).catch(() => undefined);
    },
  };
}
