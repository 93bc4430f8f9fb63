/** Two versions of a file in one column: deleted lines above inserted ones. */

import { python } from "@codemirror/lang-python";
import { syntaxHighlighting } from "@codemirror/language";
import { getChunks, unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { Difference } from "../../page/editor";
import { isPython } from "./extensions";
import "./difference.css";

/** Context lines around a change, and the least count of unchanged lines that is folded. */
const AROUND = { margin: 3, minSize: 8 };

export function showDifference(file: string, before: string, after: string): Difference {
  const state = EditorState.create({
    doc: after,
    extensions: [
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ tabindex: "0", "aria-readonly": "true", "aria-label": `Changes of ${file}` }),
      lineNumbers(),
      isPython(file) ? [python(), syntaxHighlighting(classHighlighter)] : [],
      unifiedMergeView({ original: before, mergeControls: false, collapseUnchanged: AROUND }),
    ],
  });
  const view = new EditorView({ state });
  return {
    dom: view.dom,
    chunks: getChunks(view.state)?.chunks.length ?? 0,
    end: () => view.destroy(),
  };
}
