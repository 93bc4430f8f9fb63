/** The recorded run of an example: what it said, and answers to what its panels ask. */

import type { Details, Note, RequestName, Value } from "./messages";
import type { RunRecord, TensorRecord } from "./protocol";

/** The file `first-look.json`, written by `build.py first-look`. */
export interface Recording {
  /** The program that ran; results of another text are not shown. */
  source: string;
  notes: Note[];
  run: RunRecord;
  tensors: TensorRecord[];
  answers: { question: RequestName; details: unknown; answer: unknown }[];
}

/** Return a function that looks an answer up; undefined for what was not asked then. */
export function answersOf(
  recording: Recording,
): <Q extends RequestName>(question: Q, details: Details<Q>) => Value<Q> | undefined {
  const known = new Map(recording.answers.map((one) => [nameOf(one.question, one.details), one.answer]));
  return (question, details) => known.get(nameOf(question, details)) as never;
}

/** The same text for the same question, in whatever order its details stand. */
function nameOf(question: RequestName, details: unknown): string {
  const fields = Object.entries(details as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([question, fields]);
}
