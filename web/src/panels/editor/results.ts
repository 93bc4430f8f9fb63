/** Brings what the lines of the last run made into the editor. */

import type { Annotations, Ghost } from "../../page/editor";
import { hueOf, kernelsByLine, lineResults } from "../../page/line-results";
import type { Page } from "../../page/page";
import type { NonfiniteLine } from "../../page/protocol";
import { lineNow, whyUnavailable } from "../../page/run-origin";
import type { View } from "../../page/view";

const NONE = { ghosts: [], dots: [] };

/** Return a function that annotates the editor when the results have changed. */
export function mountResults(page: Page): (view: View) => void {
  let drawn: unknown[] = [];
  let version = 0;
  /** What the lines of a run made that no name has; of the run of the tensors `asked`. */
  let unnamed: readonly NonfiniteLine[] = [];
  let asked: unknown = null;
  const ask = async ({ tensors }: View): Promise<void> => {
    if (tensors === asked) return;
    asked = tensors;
    unnamed = [];
    const found = await page.request("nonfinite", {}).catch(() => []);
    if (asked !== tensors || !found.length) return;
    unnamed = found;
    drawn = [];
    draw(page.view);
  };
  const draw = (view: View): void => {
    const { run, tensors, document, showsResults, editedSince, origins } = view;
    if (showsResults && view.phase === "idle" && run?.lines.length && whyUnavailable(view, "tensors", "", "") === null && !origins.tensors?.recorded) void ask(view);
    page.editor.dom.classList.toggle("has-old-results", editedSince);
    const isHere = run !== null && view.origins.run?.document === document.id;
    const now = [isHere && run, isHere && tensors, document.id, showsResults];
    if (now.every((one, index) => one === drawn[index])) return;
    drawn = now;
    version += 1;
    const known = new Map<string, Annotations>();
    const mine = version;
    page.editor.annotate((file) => {
      const found = known.get(file) ?? annotations(page.view, page.editor.files(), file, mine, asked === page.view.tensors ? unnamed : []);
      known.set(file, found);
      return found;
    });
  };
  return draw;
}

function annotations(view: View, files: readonly { name: string; text: string }[], file: string, version: number, unnamed: readonly NonfiniteLine[]): Annotations {
  const { run, tensors, showsResults, document } = view;
  const origin = view.origins.run;
  const text = files.find(({ name }) => name === file)?.text;
  if (!run || !origin || origin.document !== document.id || text === undefined) return { version, ...NONE };
  const present = (line: number): number | null => lineNow(origin, text, line, file);
  const isDescribed = view.origins.tensors?.run === origin.run;
  const ghosts: Ghost[] = [];
  for (const one of showsResults ? lineResults(run, isDescribed ? tensors : [], file, isDescribed ? unnamed : []) : []) {
    const line = present(one.line);
    if (line !== null) ghosts.push({ ...one, line, hue: one.kernels[0] === undefined ? "" : hueOf(one.kernels[0]) });
  }
  const dots = new Map<number, string>();
  for (const [line, [kernel]] of kernelsByLine(run, file)) {
    const now = present(line);
    if (now !== null && kernel !== undefined) dots.set(now, hueOf(kernel));
  }
  ghosts.sort((a, b) => a.line - b.line);
  const sorted = [...dots].sort(([a], [b]) => a - b).map(([line, hue]) => ({ line, hue }));
  return { version, ghosts: ghosts.filter(({ line }, index) => line !== ghosts[index - 1]?.line), dots: sorted };
}
