/** Shows the recorded result of the first example, and runs it by itself on a first visit. */

import type { Page } from "../page/page";
import type { Recording } from "../page/recording";
import { recall, remember } from "../page/storage";
import type { Part } from "../page/view";

const VISITED = "visited";

export function mountFirstLook(page: Page): Part {
  // A reader with a link or stored programs is not on a first visit.
  const isFirstVisit = recall(VISITED) === null && location.hash === "" && page.workspace.documents.list().length === 0;
  // Without storage every visit would be the first.
  let runs = remember(VISITED, "1") === null && isFirstVisit;
  let recording: Recording | null = null;
  const look = (): void => {
    const { document, origins, state } = page.view;
    const isUntouched = document.kind === "example" && page.editor.source() === document.original;
    // Keep the reason why Python failed to start visible.
    const isShown = origins.output !== null || state === "error";
    if (recording && !isShown && isUntouched && document.original === recording.source) page.replay(recording);
    if (!runs || document.id === "") return;
    const hasRun = origins.output !== null && !origins.output.recorded;
    if (hasRun || !isUntouched || page.view.queued) runs = false;
    else if (state === "ready") {
      runs = false;
      page.run();
    }
  };
  void load().then((loaded) => {
    recording = loaded;
    look();
  });
  return {
    update: () => queueMicrotask(look),
  };
}

/** Without a recording the page starts empty, as with other examples. */
async function load(): Promise<Recording | null> {
  try {
    const response = await fetch(new URL("first-look.json", document.baseURI));
    return response.ok ? ((await response.json()) as Recording) : null;
  } catch {
    return null;
  }
}
