/** CodeMirror states of the files shown so far, each with its undo history. */

import { historyField, isolateHistory } from "@codemirror/commands";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension, type TransactionSpec } from "@codemirror/state";
import type { Failure } from "../../page/protocol";
import { MAIN } from "../../page/program";
import { recallInTab, rememberInTab } from "../../page/storage";
import { marksOf } from "./marks";

const LONGEST_HISTORY = 500_000;
const FIELDS = { history: historyField };

export class States {
  /** By program, then by file. */
  #programs = new Map<string, Map<string, EditorState>>();

  get(program: string, file: string): EditorState | null {
    return this.#programs.get(program)?.get(file) ?? null;
  }

  set(program: string, file: string, state: EditorState): void {
    const files = this.#programs.get(program) ?? new Map<string, EditorState>();
    this.#programs.set(program, files.set(file, state));
  }

  delete(program: string, file: string): void {
    this.#programs.get(program)?.delete(file);
  }

  /** Rename a program. */
  move(from: string, to: string): void {
    const files = this.#programs.get(from);
    if (!files) return;
    this.#programs.delete(from);
    this.#programs.set(to, files);
  }

  /** The state of a file with this text: the previous state with an undoable change. */
  open(program: string, file: string, text: string, extensions: Extension): EditorState {
    const known = this.get(program, file) ?? keptHistory(keyOf(program, file), extensions);
    const state = replaced(known ?? EditorState.create({ doc: text, extensions }), text);
    this.set(program, file, state);
    return state;
  }

  /** Mark the lines where a program failed, and clear the marks of all other programs. */
  mark(program: string, failure: Failure | null): void {
    for (const [id, files] of this.#programs) {
      for (const [file, state] of files) files.set(file, marked(state, id === program ? failure : null, file));
    }
  }

  /** Store undo histories, so that they survive a reload of this tab. */
  keep(): void {
    for (const [program, files] of this.#programs) {
      for (const [file, state] of files) {
        const stored = JSON.stringify(state.toJSON(FIELDS));
        if (stored.length < LONGEST_HISTORY) rememberInTab(`history:${keyOf(program, file)}`, stored);
      }
    }
  }
}

function keyOf(program: string, file: string): string {
  return file === MAIN ? program : `${program}/${file}`;
}

/** A change of the full text as one undo step; null for no change. */
export function replacement(state: EditorState, source: string): TransactionSpec | null {
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

function marked(state: EditorState, failure: Failure | null, file: string): EditorState {
  return state.update(setDiagnostics(state, marksOf(failure, state.doc, file))).state;
}

function keptHistory(key: string, extensions: Extension): EditorState | null {
  const stored = recallInTab(`history:${key}`);
  if (stored === null) return null;
  try {
    return EditorState.fromJSON(JSON.parse(stored), { extensions }, FIELDS);
  } catch {
    // The history is of another version of the page; the program itself is stored separately.
    return null;
  }
}
