/** Marks syntax errors of Python's compiler while typing pauses. */

import { forEachDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { SendRequest } from "../../page/editor";
import { range } from "./marks";

const REST_MS = 700;
/** The source of these marks; marks of a failed run stay. */
const SOURCE = "not run yet";

/** Compile the text whenever typing pauses and Python is idle. */
export function lint(request: SendRequest): Extension {
  let waiting = 0;
  let typed = 0;
  const look = async (view: EditorView): Promise<void> => {
    const version = typed;
    const problems = await (request("lint", { source: view.state.doc.toString() })?.catch(() => null) ?? null);
    if (!problems || version !== typed) return;
    const marks: Diagnostic[] = [];
    let hadProblems = false;
    forEachDiagnostic(view.state, (mark, from, to) => {
      if (mark.source === SOURCE) hadProblems = true;
      else marks.push({ ...mark, from, to });
    });
    if (problems.length === 0 && !hadProblems) return;
    for (const problem of problems) {
      const span = range(view.state.doc, problem);
      const isMarked = marks.some(({ from, message }) => from === span.from && message.includes(problem.message));
      if (!isMarked) marks.push({ ...span, severity: "error", message: problem.message, source: SOURCE });
    }
    view.dispatch(setDiagnostics(view.state, marks));
  };
  return EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    typed += 1;
    clearTimeout(waiting);
    waiting = window.setTimeout(() => void look(update.view), REST_MS);
  });
}
