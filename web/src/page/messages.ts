/**
 * Reads what comes from the worker. A program there can change Python's side of every
 * answer, so nothing is believed before it has the shape that the page draws.
 */

import { bytes, either, flag, list, number, oneOf, optional, orNull, record, text, whole, type Check } from "./checks";
import { FINGERPRINTS } from "./fingerprint";
import { LineMeter } from "./line-meter";
import { plainName } from "./program";
import type {
  Bar,
  BarChart,
  Cells,
  Collected,
  Display,
  Explanation,
  Failure,
  Frame,
  FromWorker,
  Gap,
  Heatmap,
  KernelRecord,
  KernelSource,
  LentFile,
  Member,
  LivePicture,
  Notes,
  Note,
  NonfiniteOrigin,
  NonfiniteSearch,
  Output,
  Pair,
  Part,
  Problem,
  Place,
  PlotRecord,
  PlotSeries,
  Prompt,
  Question,
  Reply,
  Rich,
  Said,
  RunRecord,
  Sample,
  Started,
  Statistics,
  Tail,
  TensorRecord,
  TensorText,
  Tick,
  WarmUp,
} from "./protocol";

const LONG = 4_000_000;
const NAME = 100_000;
const MOST_AXES = 10_000;
const MOST_CELLS = 1_048_576;
const MOST_CHANNELS = 4;

const stream = oneOf("stdout", "stderr");
const name = text(NAME);
const position = whole(1_000_000_000);

const CHART = record<BarChart>({
  heading: name,
  unit: name,
  bars: list(record<Bar>({ label: name, text: name, length: number, marked: flag }), 10_000),
  ticks: list(record<Tick>({ text: name, position: number }), 1000),
});

const FRAME = record<Frame>({
  file: name,
  function: name,
  line: position,
  column: orNull(position),
  endLine: position,
  endColumn: orNull(position),
  code: text(LONG),
  indent: position,
});

const FAILURE = record<Failure>({
  type: name,
  message: text(LONG),
  frames: list(either(record<Gap>({ skipped: whole() }), FRAME), 1000),
  text: text(LONG),
  hidden: whole(),
});

const KERNEL = record<KernelRecord>({
  name,
  kind: name,
  formula: name,
  copies: flag,
  device: name,
  grid: list(whole(), 3),
  buffers: whole(),
  bytes: whole(),
  flops: whole(),
  loaded: whole(),
  stored: whole(),
  line: orNull(whole()),
  count: whole(),
  seconds: optional(number),
});

const ORIGINS = list(
  record<NonfiniteOrigin>({ kind: oneOf("nan", "inf"), op: name, file: name, lines: list(position, 100) }),
  10,
);

const STATISTICS = {
  min: optional(orNull(number)),
  max: optional(orNull(number)),
  mean: optional(orNull(number)),
  nan: optional(whole()),
  inf: optional(whole()),
  origins: optional(ORIGINS),
  problem: optional(text(LONG)),
};

const TENSOR = record<TensorRecord>({
  id: whole(),
  name,
  names: list(name, 100_000),
  displays: list(whole(), 100_000),
  group: orNull(name),
  cuts: list(name, 10_000),
  shape: list(whole(), MOST_AXES),
  dtype: name,
  device: name,
  strides: list(number, MOST_AXES),
  offset: number,
  contiguous: flag,
  viewOf: orNull(name),
  size: whole(),
  channels: orNull(whole()),
  coloured: flag,
  ...STATISTICS,
});

const encoding = oneOf("float32", "int32", "uint32", "float64");

const MANY_BYTES = bytes(8 * MOST_CELLS * MOST_CHANNELS);

const PLAIN_HEATMAP = record<Heatmap>({
  channels: whole(MOST_CHANNELS),
  rows: whole(MOST_CELLS),
  columns: whole(MOST_CELLS),
  blockRows: whole(),
  blockColumns: whole(),
  stepRows: whole(),
  stepColumns: whole(),
  fullRows: whole(),
  fullColumns: whole(),
  how: oneOf("mean", "extreme", "corner", "each"),
  encoding,
  values: either(text(12 * MOST_CELLS * MOST_CHANNELS), MANY_BYTES),
});

const heatmap: Check = (value) => PLAIN_HEATMAP(value) && hasItsCells(value as Heatmap);

const RICH = record<Rich>({ kind: oneOf("html", "svg", "png", "jpeg", "text", "verdict"), data: text(LONG) });

/** The check of each kind of message that a running program can send. */
const NOTES: { readonly [M in keyof Notes]: Check } = {
  output: record<Output>({ stream, text: text(LONG) }),
  tail: record<Tail>({ stream, text: text(LONG), omitted: whole() }),
  display: record<Display>({
    display: whole(),
    name: orNull(name),
    text: text(LONG),
    tensor: flag,
    facts: name,
    chart: orNull(CHART),
    rich: optional(RICH),
  }),
  plot: record<PlotRecord>({
    display: whole(),
    title: name,
    kind: oneOf("lines", "points", "histogram"),
    series: list(
      record<PlotSeries>({ name, x: list(orNull(number), 4000), y: list(orNull(number), 4000), count: whole() }),
      100,
    ),
  }),
  prompt: record<Prompt>({ text: name }),
  picture: record<LivePicture>({
    display: whole(),
    step: whole(),
    shape: list(whole(), MOST_AXES),
    dtype: name,
    heatmap,
  }),
};

const MOST_FILES = 500;

const isPlainName: Check = (value) => typeof value === "string" && plainName(value) === value;

/** The check of the response to each kind of request. */
const ANSWERS: { readonly [Q in Question]: Check } = {
  start: record<Started>({
    adapter: orNull(name),
    emulated: flag,
    reason: orNull(name),
    blocking: flag,
    python: name,
    version: name,
    snapshot: flag,
    digest: orNull(name),
  }),
  run: record<RunRecord>({
    seconds: number,
    stopped: flag,
    error: orNull(FAILURE),
    kernels: list(KERNEL, 10_000),
    kernelsLeftOut: whole(),
    faults: list(name, 100),
    search: optional(record<NonfiniteSearch>({ complete: flag, origins: ORIGINS })),
  }),
  describe: list(TENSOR, 10_000),
  source: record<KernelSource>({ text: text(LONG) }),
  statistics: record<Statistics>(STATISTICS),
  text: record<TensorText>({ text: text(LONG) }),
  fingerprint: FINGERPRINTS,
  heatmap,
  find: record<Place>({ index: orNull(list(whole(), MOST_AXES)) }),
  sample: record<Sample>({ step: whole(), encoding, values: text(12 * MOST_CELLS) }),
  pair: record<Pair>({
    first: TENSOR,
    second: TENSOR,
    difference: TENSOR,
    differing: whole(),
    largest: orNull(number),
    index: orNull(list(whole(), MOST_AXES)),
  }),
  export: record<Part>({ data: text(12 * LONG), next: orNull(whole()) }),
  cells: record<Cells>({ row: whole(), column: whole(), texts: list(list(name, 10_000), 10_000) }),
  members: list(
    record<Member>({
      name,
      kind: oneOf("function", "class", "module", "property", "variable"),
      detail: name,
    }),
    10_000,
  ),
  explain: record<Explanation>({ signature: name, text: name }),
  lint: list(
    record<Problem>({
      message: text(LONG),
      line: position,
      column: orNull(position),
      endLine: position,
      endColumn: orNull(position),
    }),
    1000,
  ),
  lend: (value) => value === null,
  collect: record<Collected>({
    files: list(record<LentFile>({ name: isPlainName, data: (value) => value instanceof Blob }), MOST_FILES),
    gone: list(name, 100_000),
    left: whole(),
  }),
  leave: oneOf(null),
  warm: record<WarmUp>({ more: flag }),
};

/** Limit of base64 characters for the bytes of all cells. */
function hasItsCells({ channels, rows, columns, encoding, values }: Heatmap): boolean {
  const cells = rows * columns;
  const size = channels * cells * (encoding === "float64" ? 8 : 4);
  const length = typeof values === "string" ? Math.ceil(size / 3) * 4 : size;
  return channels > 0 && cells <= MOST_CELLS && values.length === length;
}

const MESSAGES: readonly Check[] = [
  record({
    id: whole(),
    answer: text(64 * LONG),
    data: optional(MANY_BYTES),
    files: optional(list((value) => value instanceof Blob, MOST_FILES)),
  }),
  record({ id: whole(), error: text(64 * LONG) }),
  record({ note: oneOf("bytes"), what: name, done: number, total: number }),
  record({ note: oneOf("step"), text: name }),
  record({ said: text(20), fields: text(64 * LONG), data: optional(MANY_BYTES) }),
  record({ fatal: text(LONG) }),
];

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

type Answer = Extract<Reply, { answer: string }>;

/** Return the answer to a question. Throws when it is none. */
export function readAnswer(question: Question, { answer, data, files }: Answer): unknown {
  const value = parse(answer);
  if (files && question === "collect") putFiles(value as { files?: unknown } | null, files);
  if (data && question === "heatmap") putValues(value as Partial<Heatmap> | null, data);
  if (ANSWERS[question](value)) return value;
  throw new Error(`What Python answered to “${question}” is damaged. Did the program change Python itself?`);
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
