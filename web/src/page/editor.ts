/** The interface between the page and its editor. */

import type { ProgramFile } from "./program";
import type { Details, Value } from "./messages";
import type { Failure, PythonRequests } from "./protocol";

/** Asks Python something; null where it is busy or has not started. */
export type Ask = <Q extends keyof PythonRequests>(
  question: Q,
  details: Details<Q>,
) => Promise<Value<Q>> | null;

/** A part of a text and what stands there afterwards. */
export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** Two versions of a file side by side, not to be edited. */
export interface Difference {
  dom: HTMLElement;
  /** The count of differences. */
  chunks: number;
  end(): void;
}

export interface Editor {
  dom: HTMLElement;
  /** The program as one text, see `program.ts`. */
  source(): string;
  /** The program's files, `main.py` first. */
  files(): ProgramFile[];
  /** The count of edits by the reader, which shows whether they are typing. */
  edits(): number;
  /** Hand on at once what was typed and not yet saved. */
  flush(): void;
  /** Show another program, with its own history of changes. */
  show(id: string, source: string, wraps: boolean): void;
  /** Change the id of the program shown. */
  rename(id: string): void;
  /** Replace the full text of the program shown; undo restores the old one. */
  open(source: string): void;
  /** Mark where a program failed, and nothing any more in all others. */
  mark(id: string, failure: Failure | null): void;
  /** Move the cursor to a position in a file of the program, by default `main.py`. */
  goTo(line: number, column: number, file?: string): void;
  /** Show another file of the program. */
  showFile(name: string): void;
  /** Add a file to the program, at its end or at an index, and show it. */
  addFile(file: ProgramFile, index?: number): void;
  renameFile(from: string, to: string): void;
  deleteFile(name: string): void;
  /** Light a line of `main.py` up, or none. */
  light(line: number | null): void;
  /** Change the text of the file that is seen, as one step of its history. */
  change(changes: readonly Change[]): void;
  /** Show what is changed between two versions of a file. */
  difference(file: string, before: string, after: string): Difference;
  focus(): void;
}

export interface EditorEvents {
  /** The reader asks by a key for a run of all, or of the lines of a cell. */
  run(lines: number[] | null): void;
  /** Store the typed text; `id` is its program. */
  save(id: string, text: string): void;
  /** Something was typed; it is handed to `save` before long. */
  typed(): void;
  /** The program has these files, and this one is seen. */
  files(names: string[], active: string): void;
  /** The cursor stands here; both count from one. */
  moved(line: number, column: number): void;
  ask: Ask;
}
