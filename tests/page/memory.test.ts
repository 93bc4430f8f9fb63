/** Which buffers lie where in the picture of memory, and which line has which colour. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { DeviceMemory, MemoryBlock } from "../../web/src/page/protocol";
import { lineShares, sourceAt, stackOf, totals } from "../../web/src/panels/memory/stack";

function block(bytes: number, begin: number, end: number | null, line: number | null, rest: Partial<MemoryBlock> = {}): MemoryBlock {
  const value = { op: "add", shape: [1], dtype: "float32", begin, end: end ?? begin + 1, file: "main.py", line };
  return { bytes, use: "flush", begin, end, seconds: 1, isInner: false, freedLine: null, names: [], values: [value], ...rest };
}

const MEMORY: DeviceMemory = {
  ...{ device: "webgpu", peak: 80, step: 2, atPeak: [0, 1, 2], before: 10, allocated: 90, memory: null, budget: 1000 },
  blocks: [block(20, 0, null, 3), block(30, 1, 3, 4), block(20, 2, 4, 4), block(10, 4, null, 9)],
};

test("bytes in use are summed by kernel, also after the last one", () => {
  assert.deepEqual(totals(MEMORY, 6), [30, 60, 80, 50, 40, 40]);
});

test("blocks are stacked above what was there before, the longest-lived first", () => {
  const { rects, top, length } = stackOf(MEMORY, 5, 6);
  assert.equal(length, 6);
  assert.equal(top, 80);
  const found = rects.map(({ block, from, to, low }) => [block, from, to, low]);
  assert.deepEqual(found, [[0, 0, 6, 10], [1, 1, 3, 30], [2, 2, 3, 60], [2, 3, 4, 30], [3, 4, 6, 30]]);
});

test("a column of several kernels shows the highest of them", () => {
  assert.deepEqual(stackOf(MEMORY, 5, 2).steps, [2, 3]);
});

test("lines are sorted by what they hold at the peak", () => {
  const found = lineShares(MEMORY).map(({ source, bytes, blocks, colour }) => [source?.line, bytes, blocks, colour]);
  assert.deepEqual(found, [[4, 50, 2, 0], [3, 20, 1, 1], [9, 0, 0, 2]]);
});

test("a buffer that is reused has the line of the value of each kernel", () => {
  const one = { op: "add", shape: [1], dtype: "float32", begin: 1, end: 2, file: "main.py", line: 5 };
  const other = { ...one, op: "", begin: 3, end: 4, line: null };
  const reused = block(8, 0, 6, null, { isInner: true, values: [one, { ...one, begin: 4, end: 5, line: 7 }, other].sort((a, b) => a.begin - b.begin) });
  assert.deepEqual([0, 1, 2, 4, 5].map((step) => sourceAt(reused, step)?.line), [5, 5, 5, 7, 7]);
  const memory = { ...MEMORY, before: 0, blocks: [reused] };
  assert.deepEqual(stackOf(memory, 5, 6).rects.map(({ from, idle }) => [from, idle]), [[0, true], [1, false], [2, true], [3, false], [4, false], [5, true]]);
});
