/**
 * The messages of page and Python, made from Python by `python3 build.py docs`: their
 * types, and checks that refuse anything else. The records are in
 * `tensorweb/playground/records.py`, the handlers in `session.py`.
 */

import { bytes, count, either, flag, hasAllCells, integer, list, matching, number, oneOf, optional, orNull, record, refined, text, type Check } from "./checks";

export type Pooling = "mean" | "extreme" | "corner";
export type Shown = "mean" | "extreme" | "corner" | "each";
export type ShapeRule = "broadcast" | "broadcast_to" | "matmul" | "reshape" | "concat" | "aligned" | "expected" | "window" | "index";
export type DeviceName = "webgpu" | "cpu";
export type StreamName = "stdout" | "stderr";
export type Encoding = "float32" | "int32" | "uint32" | "float64";
export type PictureSize = "full" | "small";
export type Extreme = "max" | "min" | "nan" | "inf";
export type FileFormat = "npy" | "csv";
export type StorageMaking = "computed" | "constant" | "copy" | "reshape";
export type RichKind = "html" | "svg" | "png" | "jpeg" | "text" | "verdict";
export type PlotKind = "lines" | "points" | "histogram";
export type MemberKind = "function" | "class" | "module" | "property" | "variable";

/** The count of omitted frames of a deep recursion. */
export interface Gap {
  skipped: number;
}
export const isGap: Check<Gap> = record({
  skipped: count(),
});

/** A position in the user's program; columns count UTF-16 units from zero. */
export interface Frame {
  /** `main.py`, or another file of the program. */
  file: string;
  function: string;
  line: number;
  column: number | null;
  endLine: number;
  endColumn: number | null;
  /** The line without its indentation. */
  code: string;
  /** The count of removed columns. */
  indent: number;
}
export const isFrame: Check<Frame> = record({
  file: text(100_000),
  function: text(100_000),
  line: count(1_000_000_000),
  column: orNull(count(1_000_000_000)),
  endLine: count(1_000_000_000),
  endColumn: orNull(count(1_000_000_000)),
  code: text(4_000_000),
  indent: count(1_000_000_000),
});

/** One operand of a rule about shapes. */
export interface ClashOperand {
  /** Its expression in the program; empty if unknown. */
  text: string;
  /** A requested shape may contain -1. */
  shape: number[];
  /** The axis that does not fit. */
  axis: number | null;
  /** Where axes are drawn; missing where the rule's name tells it. */
  columns?: number[];
}
export const isClashOperand: Check<ClashOperand> = record({
  text: text(100_000),
  shape: list(integer, 10_000),
  axis: orNull(count()),
  columns: optional(list(count(), 10_000)),
});

/** An edit of the program after which the shapes fit. */
export interface Repair {
  label: string;
  /** The shape of the result; by the rules `aligned` and `expected` of the operand. */
  shape: number[];
  file: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
  /** The text that it replaces; columns count UTF-16 units from zero. */
  old: string;
  text: string;
}
export const isRepair: Check<Repair> = record({
  label: text(100_000),
  shape: list(count(), 10_000),
  file: text(100_000),
  line: count(1_000_000_000),
  column: count(1_000_000_000),
  endLine: count(1_000_000_000),
  endColumn: count(1_000_000_000),
  old: text(4_000_000),
  text: text(4_000_000),
});

/** Shapes that do not fit, and edits that repair them. */
export interface ShapeClash {
  rule: ShapeRule;
  operands: ClashOperand[];
  /** The axis that `concat` joins. */
  joined: number | null;
  repairs: Repair[];
}
export const isShapeClash: Check<ShapeClash> = record({
  rule: oneOf("broadcast", "broadcast_to", "matmul", "reshape", "concat", "aligned", "expected", "window", "index"),
  operands: list(isClashOperand, 100),
  joined: orNull(count()),
  repairs: list(isRepair, 10),
});

/** An exception with the user's frames. */
export interface Failure {
  type: string;
  message: string;
  frames: (Gap | Frame)[];
  text: string;
  /** The count of omitted frames of libraries. */
  hidden: number;
  /** The shapes that do not fit, if that was the reason. */
  clash?: ShapeClash;
}
export const isFailure: Check<Failure> = record({
  type: text(100_000),
  message: text(4_000_000),
  frames: list(either(isGap, isFrame), 1_000),
  text: text(4_000_000),
  hidden: count(),
  clash: optional(isShapeClash),
});

/** What a statement made: a tensor that it bound to a name, or returned. */
export interface LineResult {
  file: string;
  /** The statement's first line, and its last one. */
  line: number;
  endLine: number;
  /** The function in which it is; empty at the top of a file. */
  function: string;
  /** `x`, `self.w`, `pair[0]`; empty for a value that is returned or shown. */
  name: string;
  /** As it ran last, like the facts that follow. */
  shape: number[];
  dtype: string;
  device: string;
  /** Whether it shares the memory of another tensor. */
  view: boolean;
  /** How often it made a tensor. */
  count: number;
  /** Whether shape or dtype changed the last time. */
  varies: boolean;
  /** Whether the statement copied elements into another order. */
  copied?: boolean;
}
export const isLineResult: Check<LineResult> = record({
  file: text(100_000),
  line: count(1_000_000_000),
  endLine: count(1_000_000_000),
  function: text(100_000),
  name: text(100_000),
  shape: list(count(), 10_000),
  dtype: text(100_000),
  device: text(100_000),
  view: flag,
  count: count(),
  varies: flag,
  copied: optional(flag),
});

/** An expression of the program; columns count UTF-16 units from zero. */
export interface Span {
  line: number;
  column: number | null;
  endLine: number;
  endColumn: number | null;
  /** `main.py` where it is missing. */
  file?: string;
}
export const isSpan: Check<Span> = record({
  line: count(1_000_000_000),
  column: orNull(count(1_000_000_000)),
  endLine: count(1_000_000_000),
  endColumn: orNull(count(1_000_000_000)),
  file: optional(text(100_000)),
});

/** Launches of a kernel whose results one line of the program built. */
export interface KernelLaunches {
  file: string;
  line: number;
  count: number;
}
export const isKernelLaunches: Check<KernelLaunches> = record({
  file: text(100_000),
  line: count(1_000_000_000),
  count: count(),
});

/** One kernel with one grid, and its launch count. */
export interface KernelRecord {
  name: string;
  kind: string;
  /** What it computes, such as `sum(x)`; empty if that is long. */
  formula: string;
  /** Whether it also copies elements into another order. */
  copies: boolean;
  device: string;
  /** Workgroups by axis; on the CPU units of work, and the count of parallel units. */
  grid: number[];
  buffers: number;
  bytes: number;
  /** Floating-point operations of the kernel's first launch. */
  flops: number;
  /** Bytes that a launch reads, each element once. */
  loaded: number;
  /** Bytes that a launch writes, each element once. */
  stored: number;
  /** Line of the program that built its result, counted from one. */
  line: number | null;
  /** The file of the line; `main.py` where it is missing. */
  file?: string;
  /** The expressions of the program that it computes; their lines are those of a run.
     */
  spans: Span[];
  count: number;
  /** Those of each line, if there are several; without the ones of unknown lines. */
  launches?: KernelLaunches[];
  /** Device time of all its launches, if the run was timed and the device can. */
  seconds?: number;
}
export const isKernelRecord: Check<KernelRecord> = record({
  name: text(100_000),
  kind: text(100_000),
  formula: text(100_000),
  copies: flag,
  device: text(100_000),
  grid: list(count(), 3),
  buffers: count(),
  bytes: count(),
  flops: count(),
  loaded: count(),
  stored: count(),
  line: orNull(count()),
  file: optional(text(100_000)),
  spans: list(isSpan, 1_000),
  count: count(),
  launches: optional(list(isKernelLaunches, 1_000)),
  seconds: optional(number),
});

/** The operation that first produced a NaN or an infinity, and its source lines. */
export interface NonfiniteOrigin {
  kind: "nan" | "inf";
  /** `leaf` for data, `constant` for a literal, empty inside a fused kernel. */
  op: string;
  file: string;
  /** Of a kernel, the lines of all its operations; empty outside of the program. */
  lines: number[];
}
export const isNonfiniteOrigin: Check<NonfiniteOrigin> = record({
  kind: oneOf("nan", "inf"),
  op: text(100_000),
  file: text(100_000),
  lines: list(count(1_000_000_000), 100),
});

/** Origin and causes of NaNs and infinities in the values that a program read. */
export interface NonfiniteSearch {
  /** Whether Python could wait for the device. */
  complete: boolean;
  origins: NonfiniteOrigin[];
}
export const isNonfiniteSearch: Check<NonfiniteSearch> = record({
  complete: flag,
  origins: list(isNonfiniteOrigin, 10),
});

/** The result of a run. */
export interface RunRecord {
  seconds: number;
  stopped: boolean;
  error: Failure | null;
  /** What its lines made, in the order in which they first did. */
  lines: LineResult[];
  kernels: KernelRecord[];
  /** The count of kernels that are not listed. */
  kernelsLeftOut: number;
  /** What the GPU's adapter computes wrongly, in words; kernels avoid it. */
  faults: string[];
  /** The result of a run that searched. */
  search?: NonfiniteSearch;
  /** Whether the provenance of its values was retained. */
  inside?: boolean;
  /** Whether the buffers of devices were logged. */
  memory?: boolean;
  /** Which lines ran after a number was dragged, and why, as part of a sentence. */
  again?: string;
  /** The index in `kernels` of the kernel whose launch was captured; null for none. */
  captured?: number | null;
}
export const isRunRecord: Check<RunRecord> = record({
  seconds: number,
  stopped: flag,
  error: orNull(isFailure),
  lines: list(isLineResult, 1_000),
  kernels: list(isKernelRecord, 10_000),
  kernelsLeftOut: count(),
  faults: list(text(100_000), 100),
  search: optional(isNonfiniteSearch),
  inside: optional(flag),
  memory: optional(flag),
  again: optional(text(100_000)),
  captured: optional(orNull(count())),
});

/** A file of a program other than `main.py`: a module, or data as text. */
export interface ProgramFile {
  name: string;
  text: string;
}
export const isProgramFile: Check<ProgramFile> = record({
  name: text(100_000),
  text: text(4_000_000),
});

/** Whether there is more to compile. */
export interface WarmUp {
  more: boolean;
}
export const isWarmUp: Check<WarmUp> = record({
  more: flag,
});

/** The storage that a tensor reads. */
export interface StorageRecord {
  /** Equal for all tensors of the run that share it. */
  id: number;
  /** In elements. */
  size: number;
  /** `reshape` for a copy that a reshape needed, `constant` if nothing is stored. */
  made: StorageMaking;
  /** The line of `main.py` that made it. */
  line: number | null;
}
export const isStorageRecord: Check<StorageRecord> = record({
  id: count(),
  size: count(),
  made: oneOf("computed", "constant", "copy", "reshape"),
  line: orNull(count()),
});

/** One tensor of the run with its names and displays. */
export interface TensorRecord {
  /** Of the finite values; null if there is none. */
  min?: number | null;
  max?: number | null;
  mean?: number | null;
  nan?: number;
  inf?: number;
  /** The origin of the first NaN or infinity and its causes, after a search. */
  origins?: NonfiniteOrigin[];
  /** Why the values cannot be computed. */
  problem?: string;
  id: number;
  name: string;
  /** Every name that refers to it. */
  names: string[];
  /** Indices of `RunRecord.lines` whose last result it still is. */
  lines: number[];
  /** Ids of the displays that showed it. */
  displays: number[];
  /** The list or dict in which it is one of several similar ones. */
  group: string | null;
  /** What the list lacks after this tensor: `history: 50 of 91 shown`. */
  cuts: string[];
  shape: number[];
  dtype: string;
  device: string;
  strides: number[];
  offset: number;
  contiguous: boolean;
  viewOf: string | null;
  /** Missing while a program runs and in recorded runs. */
  storage?: StorageRecord;
  size: number;
  /** The axis of colour channels, null if no axis has three or four elements. */
  channels: number | null;
  /** Whether it is shown in colour before the reader chooses. */
  coloured: boolean;
}
export const isTensorRecord: Check<TensorRecord> = record({
  min: optional(orNull(number)),
  max: optional(orNull(number)),
  mean: optional(orNull(number)),
  nan: optional(count()),
  inf: optional(count()),
  origins: optional(list(isNonfiniteOrigin, 10)),
  problem: optional(text(4_000_000)),
  id: count(),
  name: text(100_000),
  names: list(text(100_000), 100_000),
  lines: list(count(), 1_000),
  displays: list(count(), 100_000),
  group: orNull(text(100_000)),
  cuts: list(text(100_000), 10_000),
  shape: list(count(), 10_000),
  dtype: text(100_000),
  device: text(100_000),
  strides: list(integer, 10_000),
  offset: integer,
  contiguous: flag,
  viewOf: orNull(text(100_000)),
  storage: optional(isStorageRecord),
  size: count(),
  channels: orNull(count()),
  coloured: flag,
});

/** A result of a line that is not finite, and that no name has any more. */
export interface NonfiniteLine {
  /** Its index in `RunRecord.lines`. */
  line: number;
  /** NaN where there are both. */
  kind: "nan" | "inf";
}
export const isNonfiniteLine: Check<NonfiniteLine> = record({
  line: count(),
  kind: oneOf("nan", "inf"),
});

/** What neighbouring lines of a kernel's text compute, read or write. */
export interface KernelLine {
  /** Index of the first line, and of the last one. */
  first: number;
  last: number;
  /** The expressions of the program that built it; of a function all that call it. */
  spans: Span[];
  /** Indices of the buffers whose elements they read or write. */
  buffers: number[];
  /** Whether they are of a function of the library, such as `tanh_f32`. */
  helper: boolean;
}
export const isKernelLine: Check<KernelLine> = record({
  first: count(1_000_000_000),
  last: count(1_000_000_000),
  spans: list(isSpan, 1_000),
  buffers: list(count(), 10_000),
  helper: flag,
});

/** A buffer that a kernel binds. */
export interface KernelBuffer {
  /** In the text. */
  name: string;
  /** Dtype and shape. */
  value: string;
  bytes: number;
  written: boolean;
  /** The expression of the program that built its value. */
  span: Span | null;
}
export const isKernelBuffer: Check<KernelBuffer> = record({
  name: text(100_000),
  value: text(100_000),
  bytes: count(),
  written: flag,
  span: orNull(isSpan),
});

/** The text of a kernel, or both ends of a text that is too long. */
export interface KernelSource {
  text: string;
  /** Those of WGSL that belong to an expression of the program, or to a buffer. */
  lines: KernelLine[];
  buffers: KernelBuffer[];
}
export const isKernelSource: Check<KernelSource> = record({
  text: text(4_000_000),
  lines: list(isKernelLine, 10_000),
  buffers: list(isKernelBuffer, 10_000),
});

/** A node of the graph of a flush. */
export interface StageNode {
  /** Its index there. */
  node: number;
  op: string;
  /** Dtype and shape. */
  value: string;
  /** Indices of its inputs among the nodes of the flush. */
  inputs: number[];
  /** The expression of the program that built it. */
  span: Span | null;
}
export const isStageNode: Check<StageNode> = record({
  node: count(),
  op: text(100_000),
  value: text(100_000),
  inputs: list(count(), 10_000),
  span: orNull(isSpan),
});

/** One value of an expression of a kernel, by its name in the kernel's text. */
export interface StageStep {
  name: string;
  text: string;
  /** Index of the node that it computes or loads, null for none. */
  node: number | null;
}
export const isStageStep: Check<StageStep> = record({
  name: text(100_000),
  text: text(100_000),
  node: orNull(count()),
});

/** An expression of a kernel over its own index space. */
export interface StageExpression {
  name: string;
  /** Its indices and their lengths, such as `i < 4, j < 3`. */
  axes: string;
  steps: StageStep[];
}
export const isStageExpression: Check<StageExpression> = record({
  name: text(100_000),
  axes: text(100_000),
  steps: list(isStageStep, 1_000),
});

/** A node of a kernel that has no step. */
export interface StageLoss {
  node: number;
  /** Its view is part of a load, its copy is read directly, or its step equals one. */
  why: "view" | "copy" | "equal";
}
export const isStageLoss: Check<StageLoss> = record({
  node: count(),
  why: oneOf("view", "copy", "equal"),
});

/** A kernel of a flush. */
export interface StageKernel {
  /** Its index among the kernels of the run. */
  kernel: number;
  /** Indices of the nodes that it computes. */
  nodes: number[];
  /** Indices of the nodes that it stores. */
  outputs: number[];
  expressions: StageExpression[];
  lost: StageLoss[];
}
export const isStageKernel: Check<StageKernel> = record({
  kernel: count(),
  nodes: list(count(), 10_000),
  outputs: list(count(), 10_000),
  expressions: list(isStageExpression, 100),
  lost: list(isStageLoss, 10_000),
});

/** How a flush, or one kernel of a large one, became kernels. */
export interface Stages {
  nodes: StageNode[];
  kernels: StageKernel[];
  /** Nodes of the flush that are not shown. */
  leftOut: number;
}
export const isStages: Check<Stages> = record({
  nodes: list(isStageNode, 1_000),
  kernels: list(isStageKernel, 1_000),
  leftOut: count(),
});

/** A value that one kernel writes and another one reads. */
export interface KernelSplit {
  /** Index of the kernel among those of the run, like `reader`. */
  writer: number;
  reader: number;
  /** Its dtype and shape. */
  value: string;
  /** Bytes that are written, and bytes that are read, each element once. */
  written: number;
  read: number;
  /** A sentence: the rule by which one kernel does not do both. */
  why: string;
}
export const isKernelSplit: Check<KernelSplit> = record({
  writer: count(),
  reader: count(),
  value: text(100_000),
  written: count(),
  read: count(),
  why: text(100_000),
});

/** A value that a buffer contained, and where the program built it. */
export interface MemoryValue {
  /** `leaf` for data, empty for scratch storage of a kernel. */
  op: string;
  shape: number[];
  dtype: string;
  /** Index of the kernel that computed it. */
  begin: number;
  /** Index after the last kernel of its flush that needed it. */
  end: number;
  file: string;
  line: number | null;
}
export const isMemoryValue: Check<MemoryValue> = record({
  op: text(100_000),
  shape: list(count(), 10_000),
  dtype: text(100_000),
  begin: count(1_000_000_000),
  end: count(1_000_000_000),
  file: text(100_000),
  line: orNull(count()),
});

/** A buffer of a device, from the time it was taken to its release. */
export interface MemoryBlock {
  bytes: number;
  use: "data" | "flush" | "jit";
  /** Count of kernels before it was taken. */
  begin: number;
  /** Count of kernels before it was freed; null if it outlived the run. */
  end: number | null;
  /** How long it was in use. */
  seconds: number;
  /** Whether it served one flush only, and was freed at its end. */
  isInner: boolean;
  /** The line of `main.py` that dropped its last reference. */
  freedLine: number | null;
  /** Tensors that share it at the end of the run. */
  names: string[];
  values: MemoryValue[];
}
export const isMemoryBlock: Check<MemoryBlock> = record({
  bytes: count(),
  use: oneOf("data", "flush", "jit"),
  begin: count(1_000_000_000),
  end: orNull(count()),
  seconds: number,
  isInner: flag,
  freedLine: orNull(count()),
  names: list(text(100_000), 100_000),
  values: list(isMemoryValue, 100),
});

/** The memory of one device in a run. */
export interface DeviceMemory {
  device: string;
  /** Greatest count of bytes in use at once. */
  peak: number;
  /** Count of kernels before the peak. */
  step: number;
  /** Indices of the blocks in use at the peak. */
  atPeak: number[];
  /** Bytes in use before the run. */
  before: number;
  /** Greatest count of bytes in use, and free for later flushes. */
  allocated: number;
  /** Bytes of the WebAssembly memory; null for other devices. */
  memory: number | null;
  budget: number;
  blocks: MemoryBlock[];
}
export const isDeviceMemory: Check<DeviceMemory> = record({
  device: text(100_000),
  peak: count(),
  step: count(1_000_000_000),
  atPeak: list(count(), 10_000),
  before: count(),
  allocated: count(),
  memory: orNull(count()),
  budget: count(),
  blocks: list(isMemoryBlock, 10_000),
});

/** The memory of a run: its buffers over its kernels. */
export interface MemoryRecord {
  /** Count of kernels of the flushes that are listed. */
  kernels: number;
  flushes: number;
  /** The count of flushes that are not listed. */
  unlisted: number;
  devices: DeviceMemory[];
}
export const isMemoryRecord: Check<MemoryRecord> = record({
  kernels: count(1_000_000_000),
  flushes: count(),
  unlisted: count(),
  devices: list(isDeviceMemory, 10),
});

/** The launches of equal flushes. */
export interface TimelinePlan {
  device: string;
  /** Indices of `RunRecord.kernels` by launch; null if it is not listed. */
  kernels: (number | null)[];
  /** By launch, a number that launches for one result share. */
  results: number[];
}
export const isTimelinePlan: Check<TimelinePlan> = record({
  device: text(100_000),
  kernels: list(orNull(count()), 10_000),
  results: list(count(), 10_000),
});

/** One flush; times are seconds since the run began. */
export interface TimelineFlush {
  /** Index of `TimelineRecord.plans`. */
  plan: number;
  begin: number;
  planned: number;
  /** When its first commands were ready. On the CPU it computes from then on. */
  encoded: number;
  /** When it was submitted; if times were measured, when the device was done. */
  end: number;
  /** Device time of each launch; empty if it was not measured. */
  seconds: number[];
}
export const isTimelineFlush: Check<TimelineFlush> = record({
  plan: count(1_000_000_000),
  begin: number,
  planned: number,
  encoded: number,
  end: number,
  seconds: list(number, 10_000),
});

/** One read of values, which waits for the device. */
export interface TimelineRead {
  begin: number;
  end: number;
  bytes: number;
  file: string;
  line: number | null;
}
export const isTimelineRead: Check<TimelineRead> = record({
  begin: number,
  end: number,
  bytes: count(),
  file: text(100_000),
  line: orNull(count()),
});

/** The costliest avoidable thing of a run. */
export interface TimelineFinding {
  text: string;
  file: string;
  /** The line that the text names as `line N`. */
  line: number | null;
}
export const isTimelineFinding: Check<TimelineFinding> = record({
  text: text(4_000_000),
  file: text(100_000),
  line: orNull(count()),
});

/** Where the time of a run went. */
export interface TimelineRecord {
  seconds: number;
  plans: TimelinePlan[];
  flushes: TimelineFlush[];
  reads: TimelineRead[];
  /** The count of later flushes, which are not listed. */
  unlisted: number;
  /** Who computed, for people; empty if no device did. */
  adapter: string;
  finding: TimelineFinding | null;
}
export const isTimelineRecord: Check<TimelineRecord> = record({
  seconds: number,
  plans: list(isTimelinePlan, 10_000),
  flushes: list(isTimelineFlush, 10_000),
  reads: list(isTimelineRead, 10_000),
  unlisted: count(),
  adapter: text(100_000),
  finding: orNull(isTimelineFinding),
});

/** What a device does in a second. */
export interface DeviceRates {
  adapter: string;
  /** Bytes that it reads and writes. */
  bandwidth: number;
  /** Floating-point operations. */
  flops: number;
}
export const isDeviceRates: Check<DeviceRates> = record({
  adapter: text(100_000),
  bandwidth: number,
  flops: number,
});

/** Statistics of a tensor's values; fields that cannot be computed are missing. */
export interface Statistics {
  /** Of the finite values; null if there is none. */
  min?: number | null;
  max?: number | null;
  mean?: number | null;
  nan?: number;
  inf?: number;
  /** The origin of the first NaN or infinity and its causes, after a search. */
  origins?: NonfiniteOrigin[];
  /** Why the values cannot be computed. */
  problem?: string;
}
export const isStatistics: Check<Statistics> = record({
  min: optional(orNull(number)),
  max: optional(orNull(number)),
  mean: optional(orNull(number)),
  nan: optional(count()),
  inf: optional(count()),
  origins: optional(list(isNonfiniteOrigin, 10)),
  problem: optional(text(4_000_000)),
});

/** The digits of a tensor, cut if they are many. */
export interface TensorText {
  text: string;
}
export const isTensorText: Check<TensorText> = record({
  text: text(4_000_000),
});

/** The fingerprint of a run's result: a digest, or statistics of floats. */
export interface Fingerprint {
  name: string;
  shape: number[];
  dtype: string;
  /** Of the bytes of integers and booleans; null for floats. */
  digest: string | null;
  /** Of floats: minimum, maximum, mean, mean of |x|, trend, counts of NaN and inf. */
  numbers: (number | null)[];
}
export const isFingerprint: Check<Fingerprint> = record({
  name: text(400),
  shape: list(count(), 64),
  dtype: matching(/^(?:[a-z]{1,10}\d{0,3})$/),
  digest: orNull(matching(/^(?:[0-9a-f]{16})$/)),
  numbers: list(orNull(number), 7),
});

/** The cells of one slice, each a block of elements. */
export interface Heatmap {
  /** Planes of values: three or four for a picture in colour. */
  channels: number;
  rows: number;
  columns: number;
  blockRows: number;
  blockColumns: number;
  /** The step between the sampled rows of a block. */
  stepRows: number;
  stepColumns: number;
  fullRows: number;
  fullColumns: number;
  how: Shown;
  encoding: Encoding;
  /** Values by channel, then by row: bytes sent next to the JSON, or base64. */
  values: string | Uint8Array;
}
export const isHeatmap: Check<Heatmap> = refined(record({
  channels: count(4),
  rows: count(1_048_576),
  columns: count(1_048_576),
  blockRows: count(),
  blockColumns: count(),
  stepRows: count(),
  stepColumns: count(),
  fullRows: count(),
  fullColumns: count(),
  how: oneOf("mean", "extreme", "corner", "each"),
  encoding: oneOf("float32", "int32", "uint32", "float64"),
  values: either(text(50_331_648), bytes(33_554_432)),
}), hasAllCells);

/** Every `step`-th value of a slice, in base64. */
export interface Sample {
  step: number;
  encoding: Encoding;
  values: string;
}
export const isSample: Check<Sample> = record({
  step: count(),
  encoding: oneOf("float32", "int32", "uint32", "float64"),
  values: text(12_582_912),
});

/** The index of a value, null if there is none. */
export interface Found {
  index: number[] | null;
}
export const isFound: Check<Found> = record({
  index: orNull(list(count(), 10_000)),
});

/** Two tensors broadcast to one shape, their difference and its statistics. */
export interface Pair {
  first: TensorRecord;
  second: TensorRecord;
  difference: TensorRecord;
  /** The count of elements that differ; two NaNs do not. */
  differing: number;
  /** The largest finite distance; null if none is finite. */
  largest: number | null;
  /** The first index of the largest distance. */
  index: number[] | null;
}
export const isPair: Check<Pair> = record({
  first: isTensorRecord,
  second: isTensorRecord,
  difference: isTensorRecord,
  differing: count(),
  largest: orNull(number),
  index: orNull(list(count(), 10_000)),
});

/** What a compiler said about a text; line and column begin at 1, 0 is unknown. */
export interface ShaderProblem {
  text: string;
  line: number;
  column: number;
}
export const isShaderProblem: Check<ShaderProblem> = record({
  text: text(4_000_000),
  line: count(1_000_000_000),
  column: count(1_000_000_000),
});

/** The results of a captured kernel by its own text and by another one. */
export interface Attempt {
  /** Why the other text did not run; empty if it did. */
  problems: ShaderProblem[];
  /** Device time of both; empty where the device cannot tell. */
  seconds: number[];
  /** The first output that differs, else the first one. */
  pairs: Pair[];
}
export const isAttempt: Check<Attempt> = record({
  problems: list(isShaderProblem, 100),
  seconds: list(number, 2),
  pairs: list(isPair, 1),
});

/** A statement that defines a kernel of the program's own. */
export interface KernelCode {
  text: string;
}
export const isKernelCode: Check<KernelCode> = record({
  text: text(1_048_576),
});

/** An array that the invocations of a workgroup share. */
export interface SharedArray {
  name: string;
  space: "storage" | "workgroup";
  shape: number[];
}
export const isSharedArray: Check<SharedArray> = record({
  name: text(100_000),
  space: oneOf("storage", "workgroup"),
  shape: list(count(), 64),
});

/** An access of one invocation to an array, or a barrier that it reaches. */
export interface ThreadStep {
  thread: number;
  kind: "read" | "write" | "atomic" | "barrier";
  /** Index of the array; 0 at a barrier, like the address. */
  array: number;
  /** Address of the element, in row-major order. */
  at: number;
  value: string;
  /** In the text, from 1 on. */
  line: number;
}
export const isThreadStep: Check<ThreadStep> = record({
  thread: count(),
  kind: oneOf("read", "write", "atomic", "barrier"),
  array: count(),
  at: count(1_000_000_000),
  value: text(100),
  line: count(1_000_000_000),
});

/** A race, an index beyond the end, or a barrier that some do not reach. */
export interface ThreadMistake {
  text: string;
  line: number;
}
export const isThreadMistake: Check<ThreadMistake> = record({
  text: text(1_000),
  line: count(1_000_000_000),
});

/** What each invocation of a workgroup reads and writes. */
export interface Threads {
  source: string;
  /** Why the text was not read; empty if it was. */
  problems: ShaderProblem[];
  /** Invocations along x, y and z. */
  workgroup: number[];
  /** Workgroups along x, y and z, and the index of this one. */
  groups: number[];
  group: number[];
  arrays: SharedArray[];
  /** In order, those of one invocation next to each other. */
  steps: ThreadStep[];
  /** Whether there were more. */
  cut: boolean;
  mistakes: ThreadMistake[];
}
export const isThreads: Check<Threads> = record({
  source: text(4_000_000),
  problems: list(isShaderProblem, 100),
  workgroup: list(count(), 3),
  groups: list(count(), 3),
  group: list(count(), 3),
  arrays: list(isSharedArray, 64),
  steps: list(isThreadStep, 40_000),
  cut: flag,
  mistakes: list(isThreadMistake, 100),
});

/** One operation of a line in numbers, for the first cell that was needed of it. */
export interface WhyRow {
  text: string;
  op: string;
  shape: number[];
  index: number[];
  /** How many of its cells were needed. */
  count: number;
  /** Its id if it broadcasts or multiplies matrices, to see its operands aligned. */
  aligned: number | null;
}
export const isWhyRow: Check<WhyRow> = record({
  text: text(100_000),
  op: text(100_000),
  shape: list(count(), 10_000),
  index: list(count(), 10_000),
  count: count(),
  aligned: orNull(count()),
});

/** One cell and its value. */
export interface WhyCell {
  index: number[];
  value: string;
}
export const isWhyCell: Check<WhyCell> = record({
  index: list(count(), 10_000),
  value: text(100_000),
});

/** A value that a line read, and which of its cells. */
export interface WhySource {
  tensor: TensorRecord;
  /** Id of a tensor of its shape: 1 for the cells that were read, else 0. */
  mask: number;
  /** Line of the program that made it. */
  line: number | null;
  file: string;
  /** How many of its cells were read. */
  count: number;
  /** The first of them, and the last. */
  cells: WhyCell[];
}
export const isWhySource: Check<WhySource> = record({
  tensor: isTensorRecord,
  mask: count(),
  line: orNull(count()),
  file: text(100_000),
  count: count(),
  cells: list(isWhyCell, 10),
});

/** Why a cell has its value. */
export interface Why {
  tensor: TensorRecord;
  index: number[];
  value: string;
  /** Line of the program that made it. */
  line: number | null;
  file: string;
  /** The text of that line. */
  code: string;
  /** Whether the provenance of all values was retained. */
  complete: boolean;
  /** The operations of the line, the last one first. */
  rows: WhyRow[];
  /** The values from elsewhere that it read; empty for data. */
  sources: WhySource[];
  sourcesLeftOut: number;
}
export const isWhy: Check<Why> = record({
  tensor: isTensorRecord,
  index: list(count(), 10_000),
  value: text(100_000),
  line: orNull(count()),
  file: text(100_000),
  code: text(100_000),
  complete: flag,
  rows: list(isWhyRow, 100),
  sources: list(isWhySource, 100),
  sourcesLeftOut: count(),
});

/** An operand of a broadcast operation or of a product. */
export interface AlignedOperand {
  /** As the program wrote it. */
  tensor: TensorRecord;
  /** Broadcast; in a product along the axes of the stack only. */
  repeated: TensorRecord;
}
export const isAlignedOperand: Check<AlignedOperand> = record({
  tensor: isTensorRecord,
  repeated: isTensorRecord,
});

/** How the operands of one operation align. */
export interface Alignment {
  rule: "broadcast" | "matmul";
  op: string;
  /** Its sign, such as ` + `; empty for a function. */
  infix: string;
  result: TensorRecord;
  /** Those of a product are `(…, m, k)` and `(…, k, n)`. */
  operands: AlignedOperand[];
}
export const isAlignment: Check<Alignment> = record({
  rule: oneOf("broadcast", "matmul"),
  op: text(100_000),
  infix: text(100_000),
  result: isTensorRecord,
  operands: list(isAlignedOperand, 10),
});

/** A part of a file, in base64 or as text, and the start of the next part. */
export interface Part {
  data: string;
  next: number | null;
}
export const isPart: Check<Part> = record({
  data: text(48_000_000),
  next: orNull(count()),
});

/** Exact values of a window of one slice, as text. */
export interface Cells {
  row: number;
  column: number;
  texts: string[][];
}
export const isCells: Check<Cells> = record({
  row: count(),
  column: count(),
  texts: list(list(text(100_000), 10_000), 10_000),
});

/** A completion, and a short description of it. */
export interface Member {
  name: string;
  kind: MemberKind;
  detail: string;
}
export const isMember: Check<Member> = record({
  name: text(100_000),
  kind: oneOf("function", "class", "module", "property", "variable"),
  detail: text(100_000),
});

/** Signature and documentation of a name; empty if unknown. */
export interface Explanation {
  signature: string;
  text: string;
}
export const isExplanation: Check<Explanation> = record({
  signature: text(100_000),
  text: text(100_000),
});

/** The position of a syntax error; columns count UTF-16 units from zero. */
export interface Problem {
  message: string;
  line: number;
  column: number | null;
  endLine: number;
  endColumn: number | null;
}
export const isProblem: Check<Problem> = record({
  message: text(4_000_000),
  line: count(1_000_000_000),
  column: orNull(count(1_000_000_000)),
  endLine: count(1_000_000_000),
  endColumn: orNull(count(1_000_000_000)),
});

/** The gradient of a cell by a tensor that it was computed from. */
export interface CellGradient {
  tensor: TensorRecord;
  /** A tensor of its shape. */
  gradient: TensorRecord;
}
export const isCellGradient: Check<CellGradient> = record({
  tensor: isTensorRecord,
  gradient: isTensorRecord,
});

/** The largest element of a gradient, and the same derivative by differences. */
export interface GradientCheck {
  index: number[];
  gradient: string;
  quotient: string;
  /** How far the value was changed, up and down. */
  step: string;
}
export const isGradientCheck: Check<GradientCheck> = record({
  index: list(count(), 10_000),
  gradient: text(4_000_000),
  quotient: text(4_000_000),
  step: text(4_000_000),
});

/** The operations of a run, computed once more on another device. */
export interface DeviceComparison {
  device: DeviceName;
  /** How many operations agree within the bounds of their errors. */
  compared: number;
  /** How many could not be compared. */
  leftOut: number;
  /** The first cell that differs by more; null if none does. */
  first: Why | null;
  /** What the other device computed for it. */
  other: string;
}
export const isDeviceComparison: Check<DeviceComparison> = record({
  device: oneOf("webgpu", "cpu"),
  compared: count(),
  leftOut: count(),
  first: orNull(isWhy),
  other: text(100_000),
});

/** How a tensor differs from the one of the same name in the run before. */
export interface ValueDifference {
  tensor: number;
  name: string;
  /** The count of elements whose bits differ; two NaNs are equal. */
  differing: number;
  size: number;
  /** The largest finite distance; null if none is finite. */
  largest: number | null;
  /** How many floats lie between these two values; null for other dtypes. */
  ulps: number | null;
  /** Of the largest distance, or of the first difference. */
  index: number[];
  before: string;
  now: string;
  /** The id of a tensor that is 1 where the two differ. */
  mask: number;
}
export const isValueDifference: Check<ValueDifference> = record({
  tensor: count(),
  name: text(100_000),
  differing: count(),
  size: count(),
  largest: orNull(number),
  ulps: orNull(number),
  index: list(count(), 10_000),
  before: text(100_000),
  now: text(100_000),
  mask: count(),
});

/** The values of a run, compared with those of a run before. */
export interface ValueComparison {
  /** Whether the values of the run before were retained. */
  isRetained: boolean;
  /** In the order in which the lines of the program made them. */
  differences: ValueDifference[];
  /** The count of tensors that are equal. */
  same: number;
  /** Tensors that were too large to be retained, or could not be read. */
  leftOut: string[];
  /** Bytes of values that are retained. */
  budget: number;
}
export const isValueComparison: Check<ValueComparison> = record({
  isRetained: flag,
  differences: list(isValueDifference, 10_000),
  same: count(),
  leftOut: list(text(100_000), 100_000),
  budget: count(),
});

/** A module of a network, listed before its parts. */
export interface ModuleRecord {
  /** How the program reaches it. */
  path: string;
  name: string;
  depth: number;
  /** The name of its class. */
  kind: string;
  settings: string;
  /** Count of the numbers in its parameters and in those of its parts. */
  parameters: number;
  /** Count of the numbers in all buffers, which no optimizer changes. */
  buffers: number;
  bytes: number;
  calls: number;
  /** Time that a device took for what calls of it and of its parts built; null if that
    was not measured, or if there was no call. */
  seconds: number | null;
  /** Whether kernels computed operations of others as well: their time is divided by
    the bytes of the operations' values. */
  shared: boolean;
  /** Its own parameters and buffers. */
  tensors: TensorRecord[];
  /** What it returned last; null if it was not called, or returned no tensor. */
  output: TensorRecord | null;
}
export const isModuleRecord: Check<ModuleRecord> = record({
  path: text(100_000),
  name: text(100_000),
  depth: count(1_000),
  kind: text(100_000),
  settings: text(100_000),
  parameters: count(1_000_000_000),
  buffers: count(1_000_000_000),
  bytes: count(),
  calls: count(),
  seconds: orNull(number),
  shared: flag,
  tensors: list(isTensorRecord, 1_000),
  output: orNull(isTensorRecord),
});

/** The value that a statement bound in one of its runs. */
export interface FilmStep {
  /** The count of its runs before. */
  step: number;
  tensor: TensorRecord;
}
export const isFilmStep: Check<FilmStep> = record({
  step: count(1_000_000_000),
  tensor: isTensorRecord,
});

/** The values of a statement over the runs of its line. */
export interface FilmRecord {
  steps: FilmStep[];
  /** Counts of finite values: a column for each step, the largest values in row 0;
    null for single values and for values that are all equal. */
  histogram: TensorRecord | null;
}
export const isFilmRecord: Check<FilmRecord> = record({
  steps: list(isFilmStep, 1_000),
  histogram: orNull(isTensorRecord),
});

/** What Why?, Film and Model show of a run, for a report. */
export interface InsideResponses {
  /** JSON: a list of responses as a report has them. */
  responses: string;
}
export const isInsideResponses: Check<InsideResponses> = record({
  responses: text(4_000_000),
});

/** Text that the program printed. */
export interface Output {
  stream: StreamName;
  text: string;
}
export const isOutput: Check<Output> = record({
  stream: oneOf("stdout", "stderr"),
  text: text(4_000_000),
});

/** The end of a long output, which replaces the previous tail. */
export interface Tail {
  stream: StreamName;
  text: string;
  omitted: number;
}
export const isTail: Check<Tail> = record({
  stream: oneOf("stdout", "stderr"),
  text: text(4_000_000),
  omitted: count(),
});

/** One bar of a chart; its length is from 0 to 1. */
export interface Bar {
  label: string;
  text: string;
  length: number;
  marked: boolean;
}
export const isBar: Check<Bar> = record({
  label: text(100_000),
  text: text(100_000),
  length: number,
  marked: flag,
});

/** A label on the axis of a chart; its position is from 0 to 1. */
export interface Tick {
  text: string;
  position: number;
}
export const isTick: Check<Tick> = record({
  text: text(100_000),
  position: number,
});

/** Labelled bars. */
export interface BarChart {
  heading: string;
  unit: string;
  bars: Bar[];
  ticks: Tick[];
}
export const isBarChart: Check<BarChart> = record({
  heading: text(100_000),
  unit: text(100_000),
  bars: list(isBar, 10_000),
  ticks: list(isTick, 1_000),
});

/** A rich representation: pictures are in base64, a puzzle's verdict is JSON. */
export interface Rich {
  kind: RichKind;
  data: string;
}
export const isRich: Check<Rich> = record({
  kind: oneOf("html", "svg", "png", "jpeg", "text", "verdict"),
  data: text(4_000_000),
});

/** A value that the program showed. */
export interface Display {
  display: number;
  name: string | null;
  /** The value as text; empty for a tensor of many elements. */
  text: string;
  tensor: boolean;
  facts: string;
  chart: BarChart | null;
  /** The rich representation that replaces the text. */
  rich?: Rich;
}
export const isDisplay: Check<Display> = record({
  display: count(),
  name: orNull(text(100_000)),
  text: text(4_000_000),
  tensor: flag,
  facts: text(100_000),
  chart: orNull(isBarChart),
  rich: optional(isRich),
});

/** A request for a line that the reader types. */
export interface Prompt {
  text: string;
}
export const isPrompt: Check<Prompt> = record({
  text: text(100_000),
});

/** The current picture of a displayed tensor: its first slice. */
export interface LivePicture {
  display: number;
  step: number;
  shape: number[];
  dtype: string;
  heatmap: Heatmap;
}
export const isLivePicture: Check<LivePicture> = record({
  display: count(),
  step: count(),
  shape: list(count(), 10_000),
  dtype: text(100_000),
  heatmap: isHeatmap,
});

/** Points of a plot, in order; null for a number that is not finite. */
export interface PlotSeries {
  name: string;
  x: (number | null)[];
  y: (number | null)[];
  count: number;
}
export const isPlotSeries: Check<PlotSeries> = record({
  name: text(100_000),
  x: list(orNull(number), 4_000),
  y: list(orNull(number), 4_000),
  count: count(),
});

/** A plot that the program showed; it replaces the display's previous plot. */
export interface PlotRecord {
  display: number;
  title: string;
  kind: PlotKind;
  series: PlotSeries[];
}
export const isPlotRecord: Check<PlotRecord> = record({
  display: count(),
  title: text(100_000),
  kind: oneOf("lines", "points", "histogram"),
  series: list(isPlotSeries, 100),
});

/** The requests that Python answers. */
export interface PythonRequests {
  /** Run a program; its output and displays are emitted while it runs. */
  run: { details: { source: string; device: DeviceName | null; lines: number[] | null; keep: boolean; timed: boolean; search: boolean; inside: boolean; memory: boolean; capture: number | null; dragged: number | null; compare: boolean; files: ProgramFile[]; lost: string[] }; value: RunRecord };
  /** Cancel tasks of the last run, whose program is no longer open. */
  leave: { details: Record<string, never>; value: null };
  /** Start to compile the next graph; return whether there is more to do. */
  warm: { details: Record<string, never>; value: WarmUp };
  /** Return every tensor of the last run with its statistics. */
  describe: { details: Record<string, never>; value: TensorRecord[] };
  /** Return which lines made NaN or infinity that no name has any more. */
  nonfinite: { details: Record<string, never>; value: NonfiniteLine[] };
  /** Return the text of one of the last run's kernels. */
  source: { details: { kernel: number }; value: KernelSource };
  /** Return how the nodes of a kernel's flush became kernels. */
  stages: { details: { kernel: number }; value: Stages };
  /** Return what kernels of the last run write for others, and why. */
  splits: { details: Record<string, never>; value: KernelSplit[] };
  /** Return the buffers of a run that logged them, and its peak. */
  memory: { details: Record<string, never>; value: MemoryRecord };
  /** Return where the time of the last run went. */
  timeline: { details: Record<string, never>; value: TimelineRecord };
  /** Measure what a device does in a second, in some tenths of a second. */
  rates: { details: { device: DeviceName }; value: DeviceRates };
  /** Return the statistics of one tensor. */
  statistics: { details: { tensor: number }; value: Statistics };
  /** Return the digits of a tensor as `print` writes them. */
  text: { details: { tensor: number }; value: TensorText };
  /** Return the fingerprints of this run's results, to compare with a run. */
  fingerprint: { details: Record<string, never>; value: Fingerprint[] };
  /** Return the heat map of one slice of a tensor, in colour with `channels`. */
  heatmap: { details: { tensor: number; rows: number | null; columns: number | null; indices: number[]; how: Pooling; size: PictureSize; channels: number | null }; value: Heatmap };
  /** Return the storage of a tensor as one row of cells, in memory order. */
  storage: { details: { tensor: number }; value: Heatmap };
  /** Return some values of one slice of a tensor. */
  sample: { details: { tensor: number; rows: number | null; columns: number | null; indices: number[] }; value: Sample };
  /** Return the index of a tensor's largest, smallest or first NaN value. */
  find: { details: { tensor: number; what: Extreme }; value: Found };
  /** Broadcast two tensors to one shape and measure their difference. */
  pair: { details: { first: number; second: number }; value: Pair };
  /** Run the captured kernel with its own text and with another one. */
  attempt: { details: { source: string }; value: Attempt };
  /** Return the captured kernel with another text as code of a program. */
  as_code: { details: { source: string }; value: KernelCode };
  /** Return what the invocations of a workgroup of the captured kernel do. */
  threads: { details: { source: string; group: number[] }; value: Threads };
  /** Explain one cell of a tensor of a run with provenance. */
  why: { details: { tensor: number; index: number[]; search: boolean }; value: Why };
  /** Return how the operands of an operation that `why` listed align. */
  aligned: { details: { tensor: number }; value: Alignment };
  /** Return the sum of the first terms of a cell of a product of matrices. */
  partial_sum: { details: { tensor: number; index: number[]; depth: number }; value: WhyCell };
  /** Return which cells of named tensors a cell of one reaches. */
  reached: { details: { tensor: number; index: number[] }; value: WhySource[] };
  /** Return a part of a file: a tensor as `.npy`, one slice as CSV. */
  export: { details: { tensor: number; rows: number | null; columns: number | null; indices: number[]; format: FileFormat; start: number }; value: Part };
  /** Return exact values; a window is row, column, count of rows, of columns. */
  cells: { details: { tensor: number; rows: number | null; columns: number | null; indices: number[]; window: number[] }; value: Cells };
  /** Return the members of a dotted path; "" for the last run's names. */
  members: { details: { path: string; imported: boolean }; value: Member[] };
  /** Return signature and documentation of a dotted path. */
  explain: { details: { path: string; imported: boolean }; value: Explanation };
  /** Return the syntax error of a program, without running it. */
  lint: { details: { source: string }; value: Problem[] };
  /** Return the gradients of a cell by the named tensors that it depends on. */
  gradients: { details: { tensor: number; index: number[] }; value: CellGradient[] };
  /** Compare the largest element of a gradient with a difference quotient. */
  check_gradient: { details: { tensor: number; index: number[]; by: number; gradient: number }; value: GradientCheck };
  /** Compare the operations behind named tensors with another device. */
  compared: { details: { device: DeviceName }; value: DeviceComparison };
  /** Compare the following runs with the last one, or each with the one before. */
  keep_values: { details: { kept: boolean }; value: ValueComparison };
  /** Compare the values of the last run with those retained. */
  differences: { details: Record<string, never>; value: ValueComparison };
  /** Return the modules of the networks that have a name. */
  modules: { details: Record<string, never>; value: ModuleRecord[] };
  /** Return the values that a statement bound while the program ran. */
  film: { details: { result: number }; value: FilmRecord };
  /** Return what Why?, Film and Model show of the run, for a report. */
  inside: { details: Record<string, never>; value: InsideResponses };
}

/** The checks of their responses. */
export const RESPONSES: { readonly [R in keyof PythonRequests]: Check<PythonRequests[R]["value"]> } = {
  run: isRunRecord,
  leave: oneOf(null),
  warm: isWarmUp,
  describe: list(isTensorRecord, 10_000),
  nonfinite: list(isNonfiniteLine, 10_000),
  source: isKernelSource,
  stages: isStages,
  splits: list(isKernelSplit, 10_000),
  memory: isMemoryRecord,
  timeline: isTimelineRecord,
  rates: isDeviceRates,
  statistics: isStatistics,
  text: isTensorText,
  fingerprint: list(isFingerprint, 40),
  heatmap: isHeatmap,
  storage: isHeatmap,
  sample: isSample,
  find: isFound,
  pair: isPair,
  attempt: isAttempt,
  as_code: isKernelCode,
  threads: isThreads,
  why: isWhy,
  aligned: isAlignment,
  partial_sum: isWhyCell,
  reached: list(isWhySource, 10_000),
  export: isPart,
  cells: isCells,
  members: list(isMember, 10_000),
  explain: isExplanation,
  lint: list(isProblem, 1_000),
  gradients: list(isCellGradient, 10_000),
  check_gradient: isGradientCheck,
  compared: isDeviceComparison,
  keep_values: isValueComparison,
  differences: isValueComparison,
  modules: list(isModuleRecord, 10_000),
  film: isFilmRecord,
  inside: isInsideResponses,
};

/** The messages of a running program, by kind. */
export interface Notes {
  output: Output;
  tail: Tail;
  display: Display;
  prompt: Prompt;
  picture: LivePicture;
  plot: PlotRecord;
}

export const NOTES: { readonly [N in keyof Notes]: Check<Notes[N]> } = {
  output: isOutput,
  tail: isTail,
  display: isDisplay,
  prompt: isPrompt,
  picture: isLivePicture,
  plot: isPlotRecord,
};
