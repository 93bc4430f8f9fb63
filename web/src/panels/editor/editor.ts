/** The code editor: CodeMirror with Python, the run keys, and marks where Python failed. */

import {
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from "@codemirror/autocomplete";
import {
  defaultKeymap,
  history,
  historyField,
  historyKeymap,
  indentWithTab,
  isolateHistory,
} from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension, type TransactionSpec } from "@codemirror/state";
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
import type { Editor, EditorEvents } from "../../page/editor";
import type { Page, Part } from "../../page/page";
import type { Failure } from "../../page/protocol";
import { recallInTab, rememberInTab } from "../../page/storage";
import { assistance } from "./assistance";
import { cellAt, cells, moveToNext } from "./cells";
import { lint } from "./lint";
import { lightLine, litLine } from "./lit-line";
import { marksOf, position } from "./marks";
import { Names } from "./names";
import "./editor.css";

const SAVE_AFTER = 300;
const LONGEST_HISTORY = 500_000;
const FIELDS = { history: historyField };

export function mountEditor(host: HTMLElement, page: Page): Part {
  // The code itself takes the focus.
  host.removeAttribute("tabindex");
  host.append(page.editor.dom);
  return { update: () => undefined };
}

export function openEditor(events: EditorEvents): Editor {
  let shown = "";
  let edits = 0;
  let saving = 0;
  /** The programs that were shown before, each with its history of changes. */
  const states = new Map<string, EditorState>();
  const flush = (): void => {
    if (!saving) return;
    clearTimeout(saving);
    saving = 0;
    events.save(shown, view.state.doc.toString());
  };
  const tellPlace = (): void => {
    const { doc, selection } = view.state;
    const { number, from } = doc.lineAt(selection.main.head);
    events.moved(number, selection.main.head - from + 1);
  };
  const onChange = EditorView.updateListener.of((update) => {
    if (update.docChanged || update.selectionSet) tellPlace();
    if (!update.docChanged) return;
    edits += 1;
    clearTimeout(saving);
    saving = window.setTimeout(flush, SAVE_AFTER);
    events.typed();
  });
  const names = new Names(events.ask);
  // The first to hear of Escape: pending completion would keep it for itself.
  const extensions = [runKeys(events), assistance(names), ...BASICS, lint(events.ask), onChange];
  const view = new EditorView({ state: EditorState.create({ extensions }) });
  const leave = (): void => {
    flush();
    if (shown) states.set(shown, view.state);
    states.forEach(keepHistory);
  };
  addEventListener("pagehide", leave);
  return {
    dom: view.dom,
    source: () => view.state.doc.toString(),
    edits: () => edits,
    flush,
    show: (id, source, wraps) => {
      flush();
      if (shown) states.set(shown, view.state);
      shown = id;
      const all = wraps ? [...extensions, EditorView.lineWrapping] : extensions;
      const known = states.get(id) ?? keptHistory(id, all);
      view.setState(replaced(known ?? EditorState.create({ doc: source, extensions: all }), source));
      tellPlace();
    },
    rename: (id) => (shown = id),
    open: (source) => {
      const changed = replacement(view.state, source);
      if (!changed) return;
      view.dispatch(changed);
      flush();
    },
    mark: (id, failure) => {
      names.forget();
      for (const [name, state] of states) states.set(name, marked(state, null));
      if (id === shown) view.dispatch(setDiagnostics(view.state, marksOf(failure, view.state.doc)));
      else {
        view.dispatch(setDiagnostics(view.state, []));
        const other = states.get(id);
        if (other) states.set(id, marked(other, failure));
      }
    },
    goTo: (line, column) => {
      const anchor = position(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
    },
    light: (line) => view.dispatch({ effects: lightLine(view.state, line) }),
    focus: () => view.focus(),
  };
}

/** A change of the whole text as one step that undo takes back; null for no change. */
function replacement(state: EditorState, source: string): TransactionSpec | null {
  const insert = state.toText(source);
  if (state.doc.eq(insert)) return null;
  return {
    changes: { from: 0, to: state.doc.length, insert },
    selection: { anchor: 0 },
    annotations: isolateHistory.of("full"),
  };
}

function replaced(state: EditorState, source: string): EditorState {
  const changed = replacement(state, source);
  return changed ? state.update(changed).state : state;
}

function marked(state: EditorState, failure: Failure | null): EditorState {
  return state.update(setDiagnostics(state, marksOf(failure, state.doc))).state;
}

/** Let undo work after a reload of this tab as well. */
function keepHistory(state: EditorState, id: string): void {
  const stored = JSON.stringify(state.toJSON(FIELDS));
  if (stored.length < LONGEST_HISTORY) rememberInTab(`history:${id}`, stored);
}

function keptHistory(id: string, extensions: Extension): EditorState | null {
  const stored = recallInTab(`history:${id}`);
  if (stored === null) return null;
  try {
    return EditorState.fromJSON(JSON.parse(stored), { extensions }, FIELDS);
  } catch {
    // A history of another version of the page; the program itself is kept elsewhere.
    return null;
  }
}

function runKeys(events: EditorEvents): Extension {
  const run = (): boolean => {
    events.run(null);
    return true;
  };
  const runCell = (view: EditorView): boolean => {
    const cell = cellAt(view.state);
    events.run(cell && [cell.first, cell.last]);
    if (cell) moveToNext(view, cell);
    return true;
  };
  return keymap.of([
    { key: "Mod-Enter", run, preventDefault: true },
    { key: "Shift-Enter", run: runCell, preventDefault: true },
  ]);
}

/**
 * What is not seen or changes the order of what is seen, beside what CodeMirror marks by
 * itself: embeddings and isolates of bidirectional text, fillers, joiners, variation
 * selectors, tags and every space but the usual one. Code could hide behind each.
 */
const UNSEEN =
  /[\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;

const BASICS: Extension[] = [
  highlightSpecialChars({ addSpecialChars: UNSEEN }),
  lineNumbers(),
  cells,
  litLine,
  highlightActiveLineGutter(),
  lintGutter(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of("    "),
  EditorState.tabSize.of(4),
  bracketMatching(),
  closeBrackets(),
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
