/** The part of the protocol about tensors: what is known of them, and their pictures. */

/** The current picture of a displayed tensor: its first slice. */
export interface LivePicture {
  display: number;
  step: number;
  shape: number[];
  dtype: string;
  heatmap: Heatmap;
}

export interface TensorRecord extends Statistics {
  id: number;
  name: string;
  /** Every name that reaches it. */
  names: string[];
  /** Numbers of the displays that showed it. */
  displays: number[];
  /** The list or dict in which it is one of several alike. */
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
  size: number;
  /** The axis along which a colour can lie, null where none has three or four elements. */
  channels: number | null;
  /** Whether it is seen in colour before the reader chooses. */
  coloured: boolean;
}

/** Statistics of a tensor's values; fields that cannot be computed are missing. */
export interface Statistics {
  /** Of the finite values; null where there is none. */
  min?: number | null;
  max?: number | null;
  mean?: number | null;
  nan?: number;
  inf?: number;
  /** The origin of the first NaN or infinity and its causes, after a search. */
  origins?: NonfiniteOrigin[];
  /** Why the values cannot be had. */
  problem?: string;
}

/** What first made a NaN or an infinity: an operation, and its lines in a file of the program. */
export interface NonfiniteOrigin {
  kind: "nan" | "inf";
  /** `leaf` of data, `constant` of a written number, empty for one of a kernel's. */
  op: string;
  file: string;
  /** Of a kernel, the lines of all its operations; none where they are not the program's. */
  lines: number[];
}

/** Which slice of a tensor: drawn axes, null for none, and an index per axis. */
export interface Slice {
  tensor: number;
  rows: number | null;
  columns: number | null;
  indices: number[];
}

export interface HeatmapDetails extends Slice {
  how: Pooling;
  size: "full" | "small";
  /** The axis of a picture in colour, null for numbers. */
  channels: number | null;
}

export type Pooling = "mean" | "extreme" | "corner";

/** How numbers are packed, each little-endian. */
export type Encoding = "float32" | "int32" | "uint32" | "float64";

export interface Heatmap {
  /** Planes of values, three or four for a picture in colour. */
  channels: number;
  rows: number;
  columns: number;
  blockRows: number;
  blockColumns: number;
  /** Steps between the sampled rows and columns of a block. */
  stepRows: number;
  stepColumns: number;
  fullRows: number;
  fullColumns: number;
  how: Pooling | "each";
  encoding: Encoding;
  /** Values channel by channel, row by row: the bytes, of a recording in base64. */
  values: string | Uint8Array;
}

/** One in `step` values of a slice, in base64. */
export interface Sample {
  step: number;
  encoding: Encoding;
  values: string;
}

export type Wanted = "max" | "min" | "nan";

export interface Place {
  index: number[] | null;
}

/** What a run's result is compared by. */
export interface Fingerprint {
  name: string;
  shape: number[];
  dtype: string;
  /** Of all bytes of integers and booleans; null for floats. */
  digest: string | null;
  /** Of floats: least, greatest, mean, mean size, slope, NaNs, infinities. */
  numbers: (number | null)[];
}

export interface TensorText {
  text: string;
}

/** Two tensors in their common shape and the first less the second, which can be asked about. */
export interface Pair {
  first: TensorRecord;
  second: TensorRecord;
  difference: TensorRecord;
  /** How many elements differ; two NaNs do not. */
  differing: number;
  /** The largest finite distance and its first index; null if none is finite. */
  largest: number | null;
  index: number[] | null;
}

/** A full tensor as `.npy`, or the slice as CSV, from an element or row on. */
export interface ExportDetails extends Slice {
  format: FileFormat;
  start: number;
}

export type FileFormat = "npy" | "csv";

/** A part of a file, `.npy` in base64, and where the next one starts; null after the last. */
export interface Part {
  data: string;
  next: number | null;
}

export interface CellsDetails extends Slice {
  /** First row, first column, number of rows, number of columns. */
  window: [number, number, number, number];
}

export interface Cells {
  row: number;
  column: number;
  texts: string[][];
}
