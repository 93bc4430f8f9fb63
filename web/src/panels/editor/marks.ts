/** Marks of a failure: the frames of its traceback as diagnostics. */

import type { Diagnostic } from "@codemirror/lint";
import type { Text } from "@codemirror/state";
import type { Failure, Frame } from "../../page/protocol";

/** Start and end columns, null for a full line. */
type Place = Pick<Frame, "line" | "column" | "endLine" | "endColumn">;

/** Mark the frames in a file: the innermost as an error, its callers more lightly. */
export function marksOf(failure: Failure | null, doc: Text, file: string): Diagnostic[] {
  if (!failure) return [];
  const frames = failure.frames.filter((frame): frame is Frame => "line" in frame);
  const marks = frames.filter((frame) => frame.file === file).map((frame): Diagnostic => {
    const innermost = frame === frames.at(-1);
    const message = failure.message ? `${failure.type}: ${failure.message}` : failure.type;
    return {
      ...range(doc, frame),
      severity: innermost ? "error" : "info",
      message: innermost ? message : "Called from here",
    };
  });
  return marks.sort((a, b) => a.from - b.from || a.to - b.to);
}

export function range(doc: Text, frame: Place): { from: number; to: number } {
  if (frame.line > doc.lines) return { from: doc.length, to: doc.length };
  const line = doc.line(frame.line);
  if (frame.column === null || frame.endColumn === null) {
    const indent = line.text.length - line.text.trimStart().length;
    return { from: line.from + indent, to: line.to };
  }
  const from = position(doc, frame.line, frame.column);
  return { from, to: Math.max(from, position(doc, frame.endLine, frame.endColumn)) };
}

/** A position in the text, clamped if the program has changed. */
export function position(doc: Text, line: number, column: number): number {
  const target = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(target.from + column, target.to);
}
