/**
 * Messages of the worker, and validation of everything that it sends. A
 * program there can change Python's side of every response, so no message is used before
 * all fields that the page draws have been checked.
 */

import { bytes, count, flag, list, number, oneOf, optional, orNull, record, text, type Check, type Checked } from "./checks";
import { LineMeter } from "./line-meter";
import { plainName } from "./program";
import { NOTES, RESPONSES, type Heatmap, type LivePicture, type Notes, type PythonRequests } from "./protocol";

const LONG = 4_000_000;
const LONGEST_JSON = 64 * LONG;
const MOST_FILES = 500;

const name = text(100_000);
const data = optional(bytes(1 << 25));
const file: Check<Blob> = (value): value is Blob => value instanceof Blob;
const plain: Check<string> = (value): value is string => typeof value === "string" && plainName(value) === value;

const isStarted = record({
  /** The adapter's name, null without WebGPU. */
  adapter: orNull(name),
  /** Whether the adapter is emulated by a CPU: then device `cpu` is faster. */
  emulated: flag,
  /** Why there is no adapter, in plain words. */
  reason: orNull(name),
  /** Whether Python can wait for the GPU inside synchronous calls (JSPI). */
  blocking: flag,
  python: name,
  version: name,
  /** Whether Python started from a memory snapshot. */
  snapshot: flag,
  /** SHA-256 of the cached memory snapshot; no program had run when it was made. */
  digest: orNull(name),
});

const isCollected = record({
  files: list(record({ name: plain, data: file }), MOST_FILES),
  /** Names of files that the run has deleted. */
  deleted: list(name, 100_000),
  /** The count of files that were omitted. */
  left: count(),
});

export type Started = Checked<typeof isStarted>;
export type Collected = Checked<typeof isCollected>;

/** A file of the program's folder; it is read in ranges. */
export interface ProvidedFile {
  name: string;
  data: Blob;
}

export interface ProvideDetails {
  files: ProvidedFile[];
  /** The program's own files other than `main.py`, which Python writes there. */
  tabs: string[];
  /** Whether files that earlier cells wrote stay. */
  keep: boolean;
}

export interface StartDetails {
  /** The stop buffer of `interrupt.ts`, null where memory cannot be shared. */
  interrupt: SharedArrayBuffer | null;
}

export interface Requests extends PythonRequests {
  start: { details: StartDetails; value: Started };
  /** Copy these files into the folder of the next run. */
  provide: { details: ProvideDetails; value: null };
  /** Files that the last run has written; their bytes are sent next to the record. */
  collect: { details: Record<string, never>; value: Collected };
}

export type RequestName = keyof Requests;
export type Details<R extends RequestName> = Requests[R]["details"];
export type Value<R extends RequestName> = Requests[R]["value"];

/** A run request without its device: a full program, or a cell of it. */
export type Program = Omit<Details<"run">, "device">;

/** A slice of a tensor: its drawn axes, null for none, and an index per axis. */
export type Slice = Details<"sample">;

/** One request: the worker answers each with the same id, one after another. */
export type Request = {
  [R in RequestName]: { id: number; name: R; details: Details<R> };
}[RequestName];

/** Cancels the request `cancel` at the next point where Python waits, if it still runs. */
export interface Cancel {
  cancel: number;
}

/** The line that the reader typed for a program that waits in `input()`. */
export interface Typed {
  typed: string;
}

export type ToWorker = Request | Cancel | Typed;

const isResponse = record({ id: count(), response: text(LONGEST_JSON), data, files: optional(list(file, MOST_FILES)) });
const isError = record({ id: count(), error: text(LONGEST_JSON) });
const isBytes = record({ note: oneOf("bytes"), what: name, done: number, total: number });
const isStep = record({ note: oneOf("step"), text: name });
const isSaid = record({ said: text(20), fields: text(LONGEST_JSON), data });
const isFatal = record({ fatal: text(LONG) });

/** The value of a response as JSON, with the bytes of a picture or files. */
type WorkerResponse = Checked<typeof isResponse>;

/** A message of a running program: one of `Notes`, its record as JSON, and the bytes of a picture. */
export type Said = Checked<typeof isSaid>;

/** Progress messages of a start or a run; never a response. */
export type Note =
  | Checked<typeof isBytes>
  | Checked<typeof isStep>
  | { [M in keyof Notes]: { note: M } & Notes[M] }[keyof Notes];

export type FromWorker = WorkerResponse | Checked<typeof isError> | Note | Said | Checked<typeof isFatal>;

const MESSAGES: readonly Check[] = [isResponse, isError, isBytes, isStep, isSaid, isFatal];

const CHECKS: { readonly [R in RequestName]: Check } = {
  ...RESPONSES,
  start: isStarted,
  provide: oneOf(null),
  collect: isCollected,
};

/** Return a message of the worker, or null for anything else. */
export function readMessage(message: unknown): FromWorker | null {
  return MESSAGES.some((check) => check(message)) ? (message as FromWorker) : null;
}

/** Return what a program said, or null when it is nothing that the page shows. */
export function readNote({ said, fields, data }: Said): Note | null {
  const value = parse(fields);
  if (!Object.hasOwn(NOTES, said)) return null;
  if (data && said === "picture") putValues((value as Partial<LivePicture> | null)?.heatmap, data);
  return NOTES[said as keyof Notes](value) ? ({ ...(value as object), note: said } as Note) : null;
}

/** Insert the values that were sent next to a record into it. */
function putValues(map: Partial<Heatmap> | null | undefined, data: Uint8Array): void {
  if (map) map.values = data;
}

/** Insert the files that were sent next to their names into a record. */
function putFiles(value: { files?: unknown } | null, files: Blob[]): void {
  const names: unknown = value?.files;
  if (value && Array.isArray(names)) value.files = names.map((name: unknown, at) => ({ name, data: files[at] }));
}

/** Return the checked value of a response. Throws if it is invalid. */
export function readResponse(name: RequestName, { response, data, files }: WorkerResponse): unknown {
  const value = parse(response);
  if (files && name === "collect") putFiles(value as { files?: unknown } | null, files);
  if (data && (name === "heatmap" || name === "storage")) putValues(value as Partial<Heatmap> | null, data);
  if (CHECKS[name](value)) return value;
  throw new Error(`What Python answered to “${name}” is damaged. Did the program change Python itself?`);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

const MOST_TEXT = 1_000_000;
const MOST_DISPLAYS = 1000;
const MOST_DRAWN = 40_000_000;

/** Counts what one run shows: Python bounds it, unless a program changed that as well. */
export class NoteLimit {
  #text = 0;
  readonly #meter = new LineMeter();
  #displays = 0;
  #drawn = 0;

  /** Whether the page takes one more note of this run. */
  takes(note: Note): boolean {
    if (note.note === "display") this.#drawn += note.rich?.data.length ?? 0;
    if (note.note === "output") this.#text += this.#meter.take(note.text);
    else if (note.note === "display" || note.note === "prompt") this.#displays += 1;
    return this.#text <= MOST_TEXT && this.#displays <= MOST_DISPLAYS && this.#drawn <= MOST_DRAWN;
  }
}
