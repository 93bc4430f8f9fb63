/** A valid value of every response and every message of a running program. */

import type { Requests } from "../../web/src/page/messages";
import type { DeviceMemory, Heatmap, MemoryBlock, Notes, ShapeClash, TensorRecord, ValueComparison, ValueDifference } from "../../web/src/page/protocol";

const tensor: TensorRecord = {
  ...{ id: 0, name: "x", names: ["x", "y"], lines: [0], displays: [3], group: null, cuts: ["list: 5 of 9 shown"] },
  ...{ shape: [2, 3], dtype: "float32", device: "webgpu", strides: [-3, 1], offset: 3, contiguous: false },
  storage: { id: 0, size: 12, made: "reshape", line: 3 },
  ...{ viewOf: "base", size: 6, channels: null, coloured: false, min: -1.5, max: null, nan: 2, inf: 0 },
  origins: [{ kind: "nan", op: "log", file: "main.py", lines: [3, 4] }],
};

const heatmap: Heatmap = {
  ...{ channels: 1, rows: 2, columns: 3, blockRows: 1, blockColumns: 1, stepRows: 1, stepColumns: 1 },
  ...{ fullRows: 2, fullColumns: 3, values: new Uint8Array(24) },
  how: "each",
  encoding: "float32",
};

const frame = { file: "main.py", function: "f", line: 2, column: 0, endLine: 2, endColumn: null, code: "f()", indent: 4 };

const result = {
  ...{ file: "main.py", line: 2, endLine: 3, function: "f", name: "x", shape: [2, 3], dtype: "float32" },
  ...{ device: "webgpu", view: false, count: 64, varies: false, copied: false },
};

const kernel = {
  ...{ name: "exp", kind: "elementwise", formula: "exp(x)", copies: false, device: "cpu", grid: [1, 1], buffers: 2 },
  ...{ bytes: 48, flops: 48, loaded: 24, stored: 24, line: null, count: 1, seconds: 0.5 },
  spans: [{ line: 2, column: 4, endLine: 2, endColumn: null }],
};

const clash: ShapeClash = {
  rule: "reshape",
  operands: [{ text: "x", shape: [4, -1], axis: 1 }],
  joined: 0,
  repairs: [{ label: "x.T", shape: [3, 4], file: "main.py", line: 2, column: 0, endLine: 2, endColumn: 1, old: "x", text: "x.T" }],
};

const block: MemoryBlock = {
  ...{ bytes: 64, use: "flush", begin: 0, end: null, seconds: 0.5, isInner: false, freedLine: 4, names: ["x"] },
  values: [{ op: "exp", shape: [2, 3], dtype: "float32", begin: 0, end: 2, file: "main.py", line: null }],
};

const memory: DeviceMemory = {
  ...{ device: "cpu", peak: 64, step: 0, atPeak: [0], before: 0, allocated: 96, memory: null, budget: 1 << 20 },
  blocks: [block],
};

const difference: ValueDifference = {
  ...{ tensor: 0, name: "x", differing: 2, size: 6, largest: 0.5, ulps: null, index: [0, 1] },
  ...{ before: "1", now: "nan", mask: 1 << 19 },
};

const compared: ValueComparison = { isRetained: true, differences: [difference], same: 3, leftOut: ["y"], budget: 1 << 25 };

export const RESPONSES: { [R in keyof Requests]: Requests[R]["value"] } = {
  start: {
    ...{ adapter: null, emulated: false, reason: "no GPU", blocking: true },
    ...{ python: "3.14", version: "0.1.0", snapshot: false, digest: null },
  },
  provide: null,
  collect: { files: [{ name: "a.csv", data: new Blob(["1"]) }], deleted: ["b.csv"], left: 0 },
  run: {
    ...{ seconds: 0.1, stopped: false, lines: [result], kernels: [kernel], kernelsLeftOut: 0, faults: ["sqrt"] },
    error: { type: "ValueError", message: "no", frames: [{ skipped: 9 }, frame], text: "…", hidden: 2, clash },
    search: { complete: true, origins: tensor.origins ?? [] },
    inside: true,
    captured: 0,
    memory: true,
  },
  describe: [tensor],
  source: {
    text: "@compute",
    lines: [{ first: 0, last: 0, spans: [], buffers: [0], helper: false }],
    buffers: [{ name: "input0", value: "float32 (2, 3)", bytes: 24, written: false, span: null }],
  },
  nonfinite: [{ line: 0, kind: "nan" }],
  splits: [{ writer: 0, reader: 1, value: "float32 (2, 3)", written: 24, read: 24, why: "It is sorted." }],
  memory: { kernels: 3, flushes: 2, unlisted: 1, devices: [memory] },
  timeline: {
    ...{ seconds: 1, plans: [{ device: "cpu", kernels: [0, null], results: [3, 3] }], unlisted: 1, adapter: "WebAssembly" },
    flushes: [{ plan: 0, begin: 0.1, planned: 0.2, encoded: 0.25, end: 0.5, seconds: [0.1, 0.1] }],
    reads: [{ begin: 0.5, end: 0.6, bytes: 4, file: "main.py", line: null }],
    finding: { text: "a copy on line 3", file: "main.py", line: 3 },
  },
  rates: { adapter: "WebAssembly", bandwidth: 1e10, flops: 2e10 },
  statistics: { min: 1, problem: "too large" },
  text: { text: "[1, 2]" },
  fingerprint: [{ name: "x", shape: [2, 3], dtype: "float32", digest: "0123456789abcdef", numbers: [1, null] }],
  heatmap,
  storage: { ...heatmap, rows: 1, columns: 6 },
  stages: {
    nodes: [{ node: 0, op: "add", value: "float32 (2, 3)", inputs: [], span: null }],
    kernels: [{ kernel: 0, nodes: [0], outputs: [0], expressions: [{ name: "value", axes: "i < 6", steps: [{ name: "v0", text: "x[i]", node: 0 }] }], lost: [{ node: 0, why: "view" }] }],
    leftOut: 0,
  },
  sample: { step: 2, encoding: "int32", values: "AAAA" },
  find: { index: [0, 1] },
  cells: { row: 0, column: 0, texts: [["1", "2"]] },
  pair: { first: tensor, second: tensor, difference: tensor, differing: 1, largest: null, index: [0, 0] },
  attempt: { problems: [{ text: "expected an expression", line: 3, column: 1 }], seconds: [1e-5, 2e-5], pairs: [{ first: tensor, second: tensor, difference: tensor, differing: 1, largest: null, index: [0, 0] }] },
  as_code: { text: "edited = tw.kernel()" },
  threads: {
    ...{ source: "fn main() {}", problems: [], workgroup: [4, 1, 1], groups: [2, 1, 1], group: [0, 0, 0], cut: false },
    arrays: [{ name: "x", space: "storage", shape: [2, 3] }],
    steps: [{ thread: 0, kind: "read", array: 0, at: 5, value: "1", line: 3 }],
    mistakes: [{ text: "Race: two threads.", line: 3 }],
  },
  why: {
    ...{ tensor, index: [0, 1], value: "nan", line: 2, file: "main.py", code: "y = f(x)", complete: true, sourcesLeftOut: 0 },
    rows: [{ text: "log(-1) = nan", op: "log", shape: [2, 3], index: [0, 1], count: 1, aligned: null }],
    sources: [{ tensor, mask: 1 << 20, line: null, file: "", count: 6, cells: [{ index: [0, 1], value: "-1" }] }],
  },
  aligned: { rule: "matmul", op: "matmul", infix: " @ ", result: tensor, operands: [{ tensor, repeated: tensor }] },
  partial_sum: { index: [0, 1], value: "2.5" },
  reached: [{ tensor, mask: 1 << 20, line: 3, file: "main.py", count: 1, cells: [{ index: [0], value: "1" }] }],
  gradients: [{ tensor, gradient: tensor }],
  check_gradient: { index: [0, 1], gradient: "2", quotient: "2.001", step: "0.005" },
  compared: { device: "cpu", compared: 3, leftOut: 1, first: null, other: "" },
  modules: [{ path: "model.0", name: "0", depth: 1, kind: "Linear", settings: "3, 2", parameters: 8, bytes: 32, buffers: 0, calls: 2, seconds: 2e-5, shared: true, tensors: [tensor], output: null }],
  differences: compared,
  keep_values: compared,
  inside: { responses: "[]" },
  film: { steps: [{ step: 0, tensor }], histogram: tensor },
  export: { data: "AAAA", next: null },
  members: [{ name: "zeros", kind: "function", detail: "(shape)" }],
  explain: { signature: "(shape)", text: "Return zeros." },
  lint: [{ message: "invalid syntax", line: 1, column: null, endLine: 1, endColumn: 3 }],
  leave: null,
  warm: { more: false },
};

export const NOTES: Notes = {
  output: { stream: "stdout", text: "printed" },
  tail: { stream: "stderr", text: "…", omitted: 5 },
  display: {
    ...{ display: 0, name: null, text: "x", tensor: false, facts: "" },
    chart: {
      ...{ heading: "sizes", unit: "m", ticks: [{ text: "1", position: 0.5 }] },
      bars: [{ label: "a", text: "1 m", length: 1, marked: false }],
    },
    rich: { kind: "svg", data: "<svg/>" },
  },
  prompt: { text: "Who? " },
  picture: { display: 0, step: 1, shape: [2, 3], dtype: "float32", heatmap },
  plot: { display: 0, title: "loss", kind: "lines", series: [{ name: "a", x: [0], y: [null], count: 1 }] },
};
