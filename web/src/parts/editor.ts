/** The code editor: CodeMirror with Python, the run keys, and marks where Python failed. */

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, type Text } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { Page, Part } from "../page";
import type { Failure, Frame } from "../protocol";

const SAVE_AFTER = 300;

export function mountEditor(host: HTMLElement, page: Page): Part {
  let saving = 0;
  const save = (): void => {
    clearTimeout(saving);
    if (saving) page.save(view.state.doc.toString());
    saving = 0;
  };
  const onChange = EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    clearTimeout(saving);
    saving = window.setTimeout(save, SAVE_AFTER);
  });
  const extensions = [runKeys(page), ...BASICS, onChange];
  const view = new EditorView({ parent: host, state: EditorState.create({ extensions }) });
  addEventListener("pagehide", save);
  page.editor = {
    source: () => view.state.doc.toString(),
    open: (source) => {
      save();
      view.setState(EditorState.create({ doc: source, extensions }));
      clearTimeout(saving);
      saving = 0;
    },
    mark: (failure) => view.dispatch(setDiagnostics(view.state, marksOf(failure, view.state.doc))),
    goTo: (line, column) => {
      const anchor = position(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
  };
  return {
    dom: view.dom,
    update: () => undefined,
    dispose: () => {
      removeEventListener("pagehide", save);
      view.destroy();
    },
  };
}

function runKeys(page: Page): Extension {
  const run = (): boolean => {
    page.run();
    return true;
  };
  return keymap.of([
    { key: "Mod-Enter", run, preventDefault: true },
    { key: "Shift-Enter", run, preventDefault: true },
  ]);
}

const BASICS: Extension[] = [
  lineNumbers(),
  highlightActiveLineGutter(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of("    "),
  EditorState.tabSize.of(4),
  bracketMatching(),
  closeBrackets(),
  autocompletion({ activateOnTyping: true, activateOnTypingDelay: 250 }),
  highlightActiveLine(),
  highlightSelectionMatches(),
  python(),
  syntaxHighlighting(classHighlighter),
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
  EditorView.contentAttributes.of({
    "aria-label": "Python code",
    "aria-describedby": "editor-help",
    tabindex: "0",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
  }),
];

/** Mark the innermost place as an error and the calls that led to it more lightly. */
function marksOf(failure: Failure | null, doc: Text): Diagnostic[] {
  if (!failure) return [];
  const frames = failure.frames.filter((frame): frame is Frame => "line" in frame);
  const marks = frames.map((frame, index): Diagnostic => {
    const innermost = index === frames.length - 1;
    const message = failure.message ? `${failure.type}: ${failure.message}` : failure.type;
    return {
      ...range(doc, frame),
      severity: innermost ? "error" : "info",
      message: innermost ? message : "Called from here",
    };
  });
  return marks.sort((a, b) => a.from - b.from || a.to - b.to);
}

function range(doc: Text, frame: Frame): { from: number; to: number } {
  if (frame.line > doc.lines) return { from: doc.length, to: doc.length };
  const line = doc.line(frame.line);
  if (frame.column === null || frame.endColumn === null) {
    const indent = line.text.length - line.text.trimStart().length;
    return { from: line.from + indent, to: line.to };
  }
  const from = position(doc, frame.line, frame.column);
  return { from, to: Math.max(from, position(doc, frame.endLine, frame.endColumn)) };
}

/** A place in the text, moved to the nearest one when the program has changed. */
function position(doc: Text, line: number, column: number): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + column, found.to);
}
