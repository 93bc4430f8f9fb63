/** A recorded run: its messages, and responses to requests of panels. */

import type { Details, Note, RequestName, Value } from "./messages";
import type { Page } from "./page";
import type { RunRecord, TensorRecord } from "./protocol";
import { isPicture, wholeOf } from "../panels/tensors/whole";

/** Tensors beyond this count are not in the record of a report. */
const MOST_TENSORS = 60;

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

/** Record the run that the results belong to, with the responses that a report asks for. */
export async function recordingOf(page: Page): Promise<Recording | null> {
  const { run, origins, python } = page.view;
  const isThere = origins.run === origins.output && origins.tensors === origins.output;
  if (!run || !isThere || origins.output?.python !== python) return null;
  const tensors = page.view.tensors.slice(0, MOST_TENSORS);
  const responses: Recording["responses"] = [];
  const ask = async <Q extends RequestName>(name: Q, details: Details<Q>): Promise<void> => {
    const response = await page.request(name, details).catch(() => null);
    if (response) responses.push({ name, details, response });
  };
  for (const kernel of run.kernels.keys()) await ask("source", { kernel });
  await ask("timeline", {});
  if (run.memory) await ask("memory", {});
  const inside = run.inside ? await page.request("inside", {}).catch(() => null) : null;
  if (inside) responses.push(...(JSON.parse(inside.responses) as Recording["responses"]));
  for (const tensor of tensors.filter(isPicture)) {
    await ask("heatmap", wholeOf(tensor));
    await ask("storage", { tensor: tensor.id });
  }
  return { source: origins.output.source, notes: [], run, tensors, responses };
}
