/** The recorded run of an example: its messages, and responses to its panels' requests. */

import type { Details, Note, RequestName, Value } from "./messages";
import type { RunRecord, TensorRecord } from "./protocol";

/** The file `first-look.json`, written by `build.py first-look`. */
export interface Recording {
  /** The program that ran; results of another text are not shown. */
  source: string;
  notes: Note[];
  run: RunRecord;
  tensors: TensorRecord[];
  responses: { name: RequestName; details: unknown; response: unknown }[];
}

/** Return a function that looks up a recorded response; undefined for a request that was not recorded. */
export function responsesOf(
  recording: Recording,
): <Q extends RequestName>(name: Q, details: Details<Q>) => Value<Q> | undefined {
  const known = new Map(recording.responses.map((one) => [nameOf(one.name, one.details), one.response]));
  return (name, details) => known.get(nameOf(name, details)) as never;
}

/** A key for a request that does not depend on the order of its details. */
function nameOf(name: RequestName, details: unknown): string {
  const fields = Object.entries(details as object).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, fields]);
}
