/** Wraps comments and multi-line strings at the editor's edge, but never code. */

import { syntaxTree } from "@codemirror/language";
import { RangeSetBuilder, type Extension, type Line } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";

const PROSE = Decoration.line({ class: "cm-prose" });

class ProseLines {
  decorations: DecorationSet;

  constructor(view: EditorView) {
    this.decorations = proseOf(view);
  }

  update({ view, docChanged, viewportChanged, state, startState }: ViewUpdate): void {
    const isParsed = syntaxTree(state) !== syntaxTree(startState);
    if (docChanged || viewportChanged || isParsed) this.decorations = proseOf(view);
  }
}

function proseOf(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at);
      if (isProse(view, line)) builder.add(line.from, line.from, PROSE);
      at = line.to + 1;
    }
  }
  return builder.finish();
}

/** Whether a line begins with a comment, or belongs to a multi-line string. */
function isProse({ state }: EditorView, { text, from, to }: Line): boolean {
  const start = from + text.search(/\S|$/);
  if (start === to) return false;
  const node = syntaxTree(state).resolveInner(start, 1);
  return node.name === "Comment" || (node.name === "String" && (node.from < from || node.to > to));
}

/** `editor.css` defines the wrapping of this class. */
export const prose: Extension = [
  EditorView.lineWrapping,
  EditorView.editorAttributes.of({ class: "cm-wraps-prose" }),
  ViewPlugin.fromClass(ProseLines, { decorations: ({ decorations }) => decorations }),
];
