/** Highlights lines and expressions while another part of the page points at them. */

import { StateEffect, StateField, type EditorState, type Range } from "@codemirror/state";
import { Decoration, EditorView, type DecorationSet } from "@codemirror/view";
import type { LitSpan } from "../../page/editor";
import { range } from "./marks";

const LIT = Decoration.line({ class: "cm-lit" });

/** A full line, or expressions in a hue. */
type Lit = { line: number } | { spans: readonly LitSpan[]; hue: string };

const light = StateEffect.define<Lit | null>();

/** Highlight a line, counted from one, and scroll to it; null for none. */
export function lightLine({ doc }: EditorState, line: number | null): StateEffect<unknown>[] {
  if (line === null || line > doc.lines) return [light.of(null)];
  return [light.of({ line }), EditorView.scrollIntoView(doc.line(line).from)];
}

/** Highlight expressions and their lines in a hue, and scroll to the first. */
export function lightSpans({ doc }: EditorState, spans: readonly LitSpan[], hue: string): StateEffect<unknown>[] {
  const [first] = spans.filter(({ line }) => line <= doc.lines);
  if (!first) return [light.of(null)];
  return [light.of({ spans, hue }), EditorView.scrollIntoView(doc.line(first.line).from)];
}

export const litLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, { changes, effects, newDoc }) => {
    for (const effect of effects) {
      if (!effect.is(light)) continue;
      const { value } = effect;
      if (value === null) return Decoration.none;
      if ("line" in value) return Decoration.set(LIT.range(newDoc.line(value.line).from));
      const known = value.spans.filter(({ line }) => line <= newDoc.lines);
      const lines = new Set(known.map(({ line }) => line));
      const all: Range<Decoration>[] = [...lines].map((line) =>
        Decoration.line({ class: `cm-lit cm-lit-hue ${value.hue}` }).range(newDoc.line(line).from),
      );
      for (const span of known) {
        const { from, to } = range(newDoc, span);
        if (span.column !== null && to > from) all.push(Decoration.mark({ class: `cm-lit-part ${value.hue}` }).range(from, to));
      }
      return Decoration.set(all, true);
    }
    return marks.map(changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});
