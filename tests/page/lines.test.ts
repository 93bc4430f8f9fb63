/** What the page says at the ends of the lines of a run. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { kernelsByLine, lineResults } from "../../web/src/page/line-results";
import type { KernelRecord, LineResult, RunRecord, TensorRecord } from "../../web/src/page/protocol";
import { RESPONSES } from "./records";

const [tensor] = RESPONSES.describe as [TensorRecord];
const [kernel] = RESPONSES.run.kernels as [KernelRecord];
const [result] = RESPONSES.run.lines as [LineResult];

function run(lines: LineResult[], kernels: KernelRecord[] = [], search = RESPONSES.run.search): RunRecord {
  return { ...RESPONSES.run, lines, kernels, ...(search && { search }) };
}

const QUIET = { complete: true, origins: [] };
const plain = { ...result, line: 3, endLine: 3, count: 1 };

test("a statement says its dtype, shape and count at its last line", () => {
  const [one, ...more] = lineResults(run([result], [], QUIET), [], "main.py");
  assert.deepEqual([one?.first, one?.line, one?.text, more.length], [2, 3, "float32 (2, 3) · ×64", 0]);
  assert.deepEqual(lineResults(run([result], [], QUIET), [], "other.py"), []);
});

test("several names of one statement are named", () => {
  const names = ["a", "b", "c", "d"].map((name) => ({ ...plain, name }));
  const [one] = lineResults(run(names, [], QUIET), [], "main.py");
  assert.equal(one?.text, "a (2, 3), b (2, 3), c (2, 3) and 1 more float32");
  assert.deepEqual(one?.results, [0, 1, 2, 3]);
});

test("views, copies, times and kernels are marked", () => {
  const copied = { ...kernel, copies: true, line: 3, seconds: 0.002, spans: [] };
  const [one] = lineResults(run([{ ...plain, view: true, copied: true }], [kernel, copied], QUIET), [], "main.py");
  assert.equal(one?.text, "view · copy · k2 float32 (2, 3) · 2.0 ms");
  // A fused kernel copies for another line.
  const [other] = lineResults(run([{ ...plain, copied: false }], [copied], QUIET), [], "main.py");
  assert.equal(other?.text, "k1 float32 (2, 3) · 2.0 ms");
  assert.deepEqual(one?.kernels, [1]);
});

test("what is not finite is marked, and where a search found it first", () => {
  const holds = { ...tensor, lines: [0] };
  const [known] = lineResults(run([plain], [], QUIET), [holds], "main.py");
  assert.deepEqual([known?.isBad, known?.text], [true, "NaN first seen · float32 (2, 3)"]);
  const again = { ...plain, line: 4, endLine: 4 };
  const texts = (count: number): (string | undefined)[] =>
    lineResults(run([{ ...plain, count }, again], [], QUIET), [{ ...tensor, lines: [1] }], "main.py", [{ line: 0, kind: "inf" }]).map(({ text }) => text);
  assert.deepEqual(texts(1), ["infinity first seen · float32 (2, 3)", "NaN · float32 (2, 3)"]);
  // Its last value says nothing about the order in a loop.
  assert.deepEqual(texts(2), ["infinity · float32 (2, 3) · ×2", "NaN · float32 (2, 3)"]);
  const [found] = lineResults(run([plain]), [], "main.py");
  assert.equal(found?.text, "first NaN · float32 (2, 3)");
});

test("a kernel belongs to lines of the files in which they are", () => {
  const here = { line: 7, column: 0, endLine: 7, endColumn: 1 };
  const fused = { ...kernel, line: 3, file: "doubling.py", seconds: 0.002, spans: [here, { ...here, line: 4, file: "doubling.py" }] };
  assert.deepEqual([...kernelsByLine(run([], [fused]))], [[7, [0]]]);
  assert.deepEqual([...kernelsByLine(run([], [fused]), "doubling.py")], [[3, [0]], [4, [0]]]);
  const made = [plain, { ...plain, file: "doubling.py" }];
  const texts = ["main.py", "doubling.py"].map((file) => lineResults(run(made, [fused], QUIET), [], file)[0]?.text);
  assert.deepEqual(texts, ["float32 (2, 3)", "k1 float32 (2, 3) · 2.0 ms"]);
});

test("a kernel belongs to all lines that it computes", () => {
  const span = { line: 7, column: 0, endLine: 8, endColumn: 1 };
  const fused = { ...kernel, line: 5, spans: [span, { ...span, line: 5 }] };
  assert.deepEqual([...kernelsByLine(run([], [kernel, fused]))], [[2, [0]], [5, [1]], [7, [1]]]);
});

test("a kernel is shown at each line that launched it, with the time of its launches", () => {
  const launches = [{ file: "main.py", line: 3, count: 1 }, { file: "main.py", line: 5, count: 3 }];
  const shared = { ...kernel, line: 3, spans: [], count: 4, seconds: 0.4, launches };
  const lines = [plain, { ...plain, line: 5, endLine: 5 }];
  const texts = lineResults(run(lines, [shared], QUIET), [], "main.py").map(({ text }) => text);
  assert.deepEqual(texts, ["k1 float32 (2, 3) · 100 ms", "k1 float32 (2, 3) · 300 ms"]);
});
