/** Highlights one line while another part of the page points at it. */

import { StateEffect, StateField, type EditorState } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";

const LIT = Decoration.line({ class: "cm-lit" });

const light = StateEffect.define<number | null>();

/** Highlight a line, counted from one, and scroll to it; null for none. */
export function lightLine({ doc }: EditorState, line: number | null): StateEffect<unknown>[] {
  if (line === null || line > doc.lines) return [light.of(null)];
  return [light.of(line), EditorView.scrollIntoView(doc.line(line).from)];
}

export const litLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects, newDoc }) => {
    for (const effect of effects) {
      if (!effect.is(light)) continue;
      const { value } = effect;
      if (value === null) return Decoration.none;
      return Decoration.set(LIT.range(newDoc.line(value).from));
    }
    return marks.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});
