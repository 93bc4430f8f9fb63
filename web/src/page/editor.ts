/** The interface between the page and its editor. */

import type { ProgramFile } from "./program";
import type { Details, Value } from "./messages";
import type { LineResults } from "./line-results";
import type { Failure, PythonRequests, Span } from "./protocol";

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

/** What a statement made, at the line where it ends. */
export interface Ghost extends LineResults {
  /** The class of its first kernel's hue; empty for none. */
  hue: string;
}

/** What the editor draws of a run in one file. */
export interface Annotations {
  /** Another number for other annotations. */
  version: number;
  ghosts: readonly Ghost[];
  /** Lines with kernels, ascending. */
  dots: readonly { line: number; hue: string }[];
}

/** An expression of a kernel; columns are null for a full line. */
export type LitSpan = Span;

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
  /** Highlight a line of a file while that is visible, or none. */
  light(line: number | null, file?: string): void;
  /** Highlight expressions in the visible file and their lines in a hue. */
  lightSpans(spans: readonly LitSpan[], hue: string): void;
  /** Set the function that returns what is drawn in each file of the visible program. */
  annotate(annotationsOf: (file: string) => Annotations): void;
  /** Apply changes to the visible file as one undo step. */
  change(changes: readonly Change[]): void;
  /** Show the differences between two versions of a file. */
  difference(file: string, before: string, after: string): Difference;
  focus(): void;
}

export interface EditorEvents {
  /** The reader pressed a key to run the program, or a cell of it. */
  run(lines: number[] | null): void;
  /** A number in this line was dragged: run the program again, once the present run has finished. */
  rerun(line: number): void;
  /** Store the typed text; `id` is its program. */
  save(id: string, text: string): void;
  /** Something was typed; `save` follows soon. */
  typed(): void;
  /** The program has these files, and this one is visible. */
  files(names: string[], active: string): void;
  /** The cursor's line and column, both counted from one. */
  moved(line: number, column: number): void;
  /** The reader points at a line of the visible file, or at none. */
  pointed(line: number | null, column: number): void;
  /** Describe what a line made, and show its tensor. */
  card(ghost: Ghost): HTMLElement;
  open(ghost: Ghost): void;
  request: SendRequest;
}
