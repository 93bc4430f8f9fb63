/** The interface between the page and its editor. */

import type { ProgramFile } from "./program";
import type { Details, Value } from "./messages";
import type { Failure, PythonRequests } from "./protocol";

/** Sends a request to Python; returns null if it is busy or has not started. */
export type SendRequest = <Q extends keyof PythonRequests>(
  name: Q,
  details: Details<Q>,
) => Promise<Value<Q>> | null;

/** A range of a text and its replacement. */
export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** A read-only view of the differences between two versions of a file. */
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
  /** Save pending edits now. */
  flush(): void;
  /** Show another program, with its own history of changes. */
  show(id: string, source: string, wraps: boolean): void;
  /** Change the id of the program shown. */
  rename(id: string): void;
  /** Replace the full text of the program shown; undo restores the old one. */
  open(source: string): void;
  /** Mark the lines where a program failed, and clear the marks of all other programs. */
  mark(id: string, failure: Failure | null): void;
  /** Move the cursor to a position in a file of the program, by default `main.py`. */
  goTo(line: number, column: number, file?: string): void;
  /** Show another file of the program. */
  showFile(name: string): void;
  /** Add a file to the program, at its end or at an index, and show it. */
  addFile(file: ProgramFile, index?: number): void;
  renameFile(from: string, to: string): void;
  deleteFile(name: string): void;
  /** Highlight a line of `main.py`, or none. */
  light(line: number | null): void;
  /** Apply changes to the visible file as one undo step. */
  change(changes: readonly Change[]): void;
  /** Show the differences between two versions of a file. */
  difference(file: string, before: string, after: string): Difference;
  focus(): void;
}

export interface EditorEvents {
  /** The reader pressed a key to run the program, or a cell of it. */
  run(lines: number[] | null): void;
  /** Store the typed text; `id` is its program. */
  save(id: string, text: string): void;
  /** Something was typed; `save` follows soon. */
  typed(): void;
  /** The program has these files, and this one is visible. */
  files(names: string[], active: string): void;
  /** The cursor's line and column, both counted from one. */
  moved(line: number, column: number): void;
  request: SendRequest;
}
