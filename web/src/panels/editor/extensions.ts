/** The editor's extensions by kind of file: Python or plain text, the main file or another. */

import { closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { EditorEvents } from "../../page/editor";
import { MAIN } from "../../page/program";
import { assistance } from "./assistance";
import { cellAt, cells, moveToNext } from "./cells";
import { dragNumbers } from "./drag-numbers";
import { ghosts } from "./ghosts";
import { lint } from "./lint";
import { litLine } from "./lit-line";
import type { Names } from "./names";
import { prose } from "./prose";
import { UNSEEN } from "./unseen";

/** Makes the extensions for a file of a program by its name. */
export type Extend = (file: string, wraps: boolean) => Extension;

/** `onUpdate` comes last, so that it sees the effects of all other extensions. */
export function extender(events: EditorEvents, names: Names, onUpdate: Extension): Extend {
  // First handler of Escape, because a pending completion would consume the key.
  const results = [litLine, ghosts(events), dragNumbers(events.rerun)];
  const main = [runKeys(events, true), assistance(names), ...BASICS, ...PYTHON, cells, results, lint(events.request), onUpdate];
  const module = [runKeys(events, false), assistance(names), ...BASICS, ...PYTHON, results, lint(events.request), onUpdate];
  const plain = [runKeys(events, false), ...BASICS, onUpdate];
  return (file, wraps) => {
    const basics = file === MAIN ? main : isPython(file) ? module : plain;
    const wrapping = wraps ? EditorView.lineWrapping : isPython(file) ? prose : [];
    return [basics, attributes(file), wrapping];
  };
}

export function isPython(file: string): boolean {
  return file.endsWith(".py");
}

function runKeys(events: EditorEvents, hasCells: boolean): Extension {
  const run = (): boolean => {
    events.run(null);
    return true;
  };
  const runCell = (view: EditorView): boolean => {
    const cell = hasCells ? cellAt(view.state) : null;
    events.run(cell && [cell.first, cell.last]);
    if (cell) moveToNext(view, cell);
    return true;
  };
  return keymap.of([
    { key: "Mod-Enter", run, preventDefault: true },
    { key: "Shift-Enter", run: runCell, preventDefault: true },
  ]);
}

function attributes(file: string): Extension {
  const label = file === MAIN ? "Python code" : isPython(file) ? `Python code of ${file}` : `Text of ${file}`;
  return EditorView.contentAttributes.of({
    "aria-label": label,
    "aria-describedby": "editor-help line-results",
    tabindex: "0",
    autocapitalize: "off",
    autocorrect: "off",
    spellcheck: "false",
  });
}

const PYTHON: Extension[] = [
  lintGutter(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  python(),
  syntaxHighlighting(classHighlighter),
];

const BASICS: Extension[] = [
  highlightSpecialChars({ addSpecialChars: UNSEEN }),
  lineNumbers(),
  highlightActiveLineGutter(),
  history(),
  drawSelection(),
  indentUnit.of("    "),
  EditorState.tabSize.of(4),
  highlightActiveLine(),
  highlightSelectionMatches(),
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
];
