/** Cells of a program, separated by lines that begin with `# %%`; the cursor's cell is marked. */

import { RangeSetBuilder, type EditorState } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

/** First and last line, counted from one. */
export interface Cell {
  first: number;
  last: number;
}

const MARK = /^#[ \t]?%%/;

/** The cell of the cursor; null in a program without cells. */
export function cellAt(state: EditorState): Cell | null {
  const { doc, selection } = state;
  const here = doc.lineAt(selection.main.head).number;
  let first = here;
  while (first > 1 && !MARK.test(doc.line(first).text)) first -= 1;
  let last = here;
  while (last < doc.lines && !MARK.test(doc.line(last + 1).text)) last += 1;
  const isParted = MARK.test(doc.line(first).text) || last < doc.lines;
  return isParted ? { first, last } : null;
}

/** Move the cursor to the next cell, if there is one. */
export function moveToNext(view: EditorView, { last }: Cell): void {
  const { doc } = view.state;
  if (last >= doc.lines) return;
  view.dispatch({ selection: { anchor: doc.line(Math.min(last + 2, doc.lines)).from }, scrollIntoView: true });
}

const BEGIN = Decoration.line({ class: "cm-cell-begin" });
const CURRENT = Decoration.line({ class: "cm-cell-current" });

/** Draws a line above each cell, and a bar at the cell that Shift+Enter would run. */
export const cells = ViewPlugin.define(
  (view) => ({
    decorations: decorate(view),
    update(update: ViewUpdate) {
      if (update.docChanged || update.selectionSet || update.viewportChanged) this.decorations = decorate(update.view);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);

function decorate({ state, viewport }: EditorView): DecorationSet {
  const current = cellAt(state);
  const marks = new RangeSetBuilder<Decoration>();
  if (!current) return marks.finish();
  const { number: from } = state.doc.lineAt(viewport.from);
  const { number: to } = state.doc.lineAt(viewport.to);
  for (let number = from; number <= to; number++) {
    const line = state.doc.line(number);
    if (MARK.test(line.text)) marks.add(line.from, line.from, BEGIN);
    if (number >= current.first && number <= current.last) marks.add(line.from, line.from, CURRENT);
  }
  return marks.finish();
}
