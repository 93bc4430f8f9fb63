/** The editor of an element, loaded when its code first gets the focus. */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { UNSEEN } from "../panels/editor/unseen";
import { adopt } from "./sheets";
import styles from "./code-editor.css";

export interface CodeEditor {
  text(): string;
  /** Replace the text, which can be undone. */
  replace(text: string): void;
  /** Select a line and go there; lines count from one. */
  goTo(line: number): void;
  focus(): void;
}

export interface EditorOptions {
  root: ShadowRoot;
  host: HTMLElement;
  /** The text before the reader's edits, to which Undo leads. */
  original: string;
  /** The reader's text and selection. */
  text: string;
  from: number;
  to: number;
  label: string;
  changed(): void;
}

export function openEditor({ root, host, original, text, from, to, label, changed }: EditorOptions): CodeEditor {
  adopt(root, styles);
  const view = new EditorView({
    root,
    parent: host,
    state: EditorState.create({
      doc: original,
      extensions: [
        highlightSpecialChars({ addSpecialChars: UNSEEN }),
        history(),
        indentOnInput(),
        bracketMatching(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        python(),
        syntaxHighlighting(classHighlighter),
        // Tab leaves the code: an element is one of many things on a page.
        keymap.of([...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", autocapitalize: "off", autocorrect: "off", spellcheck: "false" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) changed();
        }),
      ],
    }),
  });
  const replace = (now: string): void => {
    if (now !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: now } });
  };
  replace(text);
  view.dispatch({ selection: { anchor: Math.min(from, text.length), head: Math.min(to, text.length) } });
  return {
    text: () => view.state.doc.toString(),
    replace,
    goTo: (line) => {
      const { from: anchor, to: head } = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines));
      view.dispatch({ selection: { anchor, head }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
  };
}
