/**
 * Every message between the page and the worker that owns Python and the GPU. What Python
 * answers and tells has the same fields in `tensorweb/playground/records.py`.
 */

import type {
  Cells,
  CellsDetails,
  Fingerprint,
  ExportDetails,
  Heatmap,
  HeatmapDetails,
  LivePicture,
  NonfiniteOrigin,
  Pair,
  Part,
  Place,
  Sample,
  Slice,
  Statistics,
  TensorRecord,
  Wanted,
} from "./tensor-protocol";

export type * from "./tensor-protocol";

export type DeviceName = "webgpu" | "cpu";

/** One question: the worker answers each with the same id, one after another. */
export type Request = {
  [Q in Question]: { id: number; question: Q; details: Questions[Q]["details"] };
}[Question];

/** Cancels the request `cancel` at the next point where Python waits, if it still runs. */
export interface Cancel {
  cancel: number;
}

/** The line that the reader typed for a program that waits for it. */
export interface Typed {
  typed: string;
}

export type ToWorker = Request | Cancel | Typed;

/** The response to a request: its value as JSON with the bytes of a picture or files, or the error. */
export type Reply = { id: number; answer: string; data?: Uint8Array; files?: Blob[] } | { id: number; error: string };

/** A message of a running program: one of `Notes`, its record as JSON, and the bytes of a picture. */
export interface Said {
  said: string;
  fields: string;
  data?: Uint8Array;
}

/** Why Python cannot go on. */
export interface Fatal {
  fatal: string;
}

/** Progress messages of a start or a run; never a response. */
export type Note =
  | { note: "bytes"; what: string; done: number; total: number }
  | { note: "step"; text: string }
  | { [M in keyof Notes]: { note: M } & Notes[M] }[keyof Notes];

/** The messages of a running program, by kind. */
export interface Notes {
  output: Output;
  tail: Tail;
  display: Display;
  prompt: Prompt;
  picture: LivePicture;
  plot: PlotRecord;
}

/** The program waits for a line that the reader types. */
export interface Prompt {
  text: string;
}

/** Text that the program printed. */
export interface Output {
  stream: StreamName;
  text: string;
}

/** The end of a long output, which replaces the previous tail. */
export interface Tail {
  stream: StreamName;
  text: string;
  omitted: number;
}

/** A value that the program showed. */
export interface Display {
  display: number;
  name: string | null;
  /** The value as text; of a tensor of many elements nothing. */
  text: string;
  tensor: boolean;
  facts: string;
  chart: BarChart | null;
  /** The rich representation that replaces the text. */
  rich?: Rich;
}

/** A value as HTML, drawing, picture in base64, or as JSON what a puzzle's check found. */
export interface Rich {
  kind: "html" | "svg" | "png" | "jpeg" | "text" | "verdict";
  data: string;
}

/** A plot that the program showed, which replaces the previous one of its display. */
export interface PlotRecord {
  display: number;
  title: string;
  kind: "lines" | "points" | "histogram";
  series: PlotSeries[];
}

/** Points of a plot, in order; null where a number is not finite. */
export interface PlotSeries {
  name: string;
  x: (number | null)[];
  y: (number | null)[];
  count: number;
}

export interface BarChart {
  heading: string;
  unit: string;
  bars: Bar[];
  ticks: Tick[];
}

/** One bar of a chart; its length is from 0 to 1. */
export interface Bar {
  label: string;
  text: string;
  length: number;
  marked: boolean;
}

/** A text on the axis of a chart; its position is from 0 to 1. */
export interface Tick {
  text: string;
  position: number;
}

export type FromWorker = Reply | Note | Said | Fatal;
export type StreamName = "stdout" | "stderr";
export type Question = keyof Questions;

export interface Questions extends PythonQuestions {
  start: { details: StartDetails; value: Started };
  /** Let the next run find these files in its folder. */
  lend: { details: LendDetails; value: null };
  /** Files that the last run has written; their bytes are sent next to the record. */
  collect: { details: Record<string, never>; value: Collected };
}

/** What Python answers itself; `handlers` in `session.py` has the same names. */
export interface PythonQuestions {
  run: { details: RunDetails; value: RunRecord };
  describe: { details: Record<string, never>; value: TensorRecord[] };
  /** The text of one of the last run's kernels, by its index in `RunRecord.kernels`. */
  source: { details: { kernel: number }; value: KernelSource };
  /** The statistics of one tensor of a group; other tensors have them in their records. */
  statistics: { details: { tensor: number }; value: Statistics };
  /** The digits of a tensor. */
  text: { details: { tensor: number }; value: TensorText };
  /** What the last run's results are compared by with those of another run. */
  fingerprint: { details: Record<string, never>; value: Fingerprint[] };
  heatmap: { details: HeatmapDetails; value: Heatmap };
  sample: { details: Slice; value: Sample };
  /** The first index of the largest or smallest finite value, or of a NaN. */
  find: { details: { tensor: number; what: Wanted }; value: Place };
  cells: { details: CellsDetails; value: Cells };
  /** Put two tensors side by side; until the next two they have numbers of their own. */
  pair: { details: { first: number; second: number }; value: Pair };
  /** A part of a file for the reader to keep. */
  export: { details: ExportDetails; value: Part };
  /** What can stand behind a dotted path; "" for the last run's names. One that is imported begins with a module. */
  members: { details: { path: string; imported: boolean }; value: Member[] };
  explain: { details: { path: string; imported: boolean }; value: Explanation };
  /** Where the compiler stops in a program that is not run. */
  lint: { details: { source: string }; value: Problem[] };
  /** End what the last run left running: its document is no longer open. */
  leave: { details: Record<string, never>; value: null };
  /** Compile a few more kernels; asked by the worker while nobody asks anything. */
  warm: { details: Record<string, never>; value: WarmUp };
}

export interface RunDetails extends Program {
  device: DeviceName;
}

/** A run request: a full program, or a cell of it. */
export interface Program {
  source: string;
  /** Modules that it imports and data that it opens. */
  files: ProgramFile[];
  /** First and last line of a cell, counted from one; null for all. */
  lines: number[] | null;
  /** Whether the names of the run before are still there. */
  keep: boolean;
  /** Whether it waits after each kernel for how long the device took. */
  timed: boolean;
  /** Whether it looks for the lines that first made a NaN or an infinity. */
  search: boolean;
  /** Names of files that were there once, for the message where one is not found. */
  lost: string[];
}

/** A file of a program other than `main.py`: a module, or data as text. */
export interface ProgramFile {
  name: string;
  text: string;
}

/** A file of the program's folder; it is read in ranges. */
export interface LentFile {
  name: string;
  data: Blob;
}

export interface LendDetails {
  files: LentFile[];
  /** The program's own files other than `main.py`, which Python writes there. */
  tabs: string[];
  /** Whether what earlier cells wrote stays. */
  keep: boolean;
}

export interface Collected {
  files: LentFile[];
  gone: string[];
  /** The count of files that were omitted. */
  left: number;
}

export interface StartDetails {
  /** The stop buffer of `interrupt.ts`, null where memory cannot be shared. */
  interrupt: SharedArrayBuffer | null;
  /** SHA-256 of the memory snapshot that may be used, null for none. */
  digest: string | null;
}

export interface Started {
  /** The adapter's name, null without WebGPU. */
  adapter: string | null;
  /** Whether a CPU stands in for a GPU there: device `cpu` is faster. */
  emulated: boolean;
  /** Why there is no adapter, in plain words. */
  reason: string | null;
  /** Whether Python can wait for the GPU inside ordinary calls. */
  blocking: boolean;
  python: string;
  version: string;
  /** Whether Python came out of a memory snapshot. */
  snapshot: boolean;
  /** SHA-256 of the cached memory snapshot; no program had run when it was made. */
  digest: string | null;
}

export interface RunRecord {
  seconds: number;
  stopped: boolean;
  error: Failure | null;
  kernels: KernelRecord[];
  /** How many more kernels there were than are listed. */
  kernelsLeftOut: number;
  /** What the GPU's adapter computes wrongly, in words; kernels avoid it. */
  faults: string[];
  /** What was found, of a run that searched. */
  search?: NonfiniteSearch;
}

/** Origin and causes of NaNs and infinities in values that the program has read. */
export interface NonfiniteSearch {
  /** Whether Python could wait for the device. */
  complete: boolean;
  origins: NonfiniteOrigin[];
}

export interface Failure {
  type: string;
  message: string;
  frames: (Frame | Gap)[];
  text: string;
  /** Frames of the library that are not listed. */
  hidden: number;
}

/** A position in the user's program; columns count UTF-16 units from zero. */
export interface Frame {
  /** `main.py`, or another file of the program. */
  file: string;
  function: string;
  line: number;
  column: number | null;
  endLine: number;
  endColumn: number | null;
  /** The line without its indentation, and how many columns that had. */
  code: string;
  indent: number;
}

/** The count of omitted frames of a deep recursion. */
export interface Gap {
  skipped: number;
}

export interface KernelRecord {
  name: string;
  kind: string;
  /** What it computes, such as `sum(x)`; empty where that is long. */
  formula: string;
  /** Whether it also copies elements into another order. */
  copies: boolean;
  device: string;
  /** Workgroups by axis; on the CPU units of work, and how many at a time. */
  grid: number[];
  buffers: number;
  bytes: number;
  /** Floating-point operations of the kernel's first launch. */
  flops: number;
  /** Bytes that a launch reads and writes, each element once. */
  loaded: number;
  stored: number;
  /** Line of the program that built its result, counted from one; null if not known. */
  line: number | null;
  count: number;
  /** Device time of all its launches, if the run was timed and the device measures it. */
  seconds?: number;
}

/** The complete text of a kernel, or the ends of one too long to be read. */
export interface KernelSource {
  text: string;
}

export interface TensorText {
  text: string;
}

/** A completion, and a short description of it. */
export interface Member {
  name: string;
  kind: "function" | "class" | "module" | "property" | "variable";
  detail: string;
}

/** Signature and documentation of a name; empty where nothing is known. */
export interface Explanation {
  signature: string;
  text: string;
}

/** The position of a syntax error; columns count UTF-16 units from zero. */
export interface Problem {
  message: string;
  line: number;
  column: number | null;
  endLine: number;
  endColumn: number | null;
}

export interface WarmUp {
  /** Whether there is more to compile. */
  more: boolean;
}
