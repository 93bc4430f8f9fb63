/** The bars of a timeline by lane, and what they sum to in a range. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { KernelRecord, TimelineFlush, TimelineRecord } from "../../web/src/page/protocol";
import { barsOf, speedsOf, sumsOf, type Lane } from "../../web/src/panels/timeline/bars";
import { ratesIn, withRates } from "../../web/src/panels/timeline/rates";

const kernel = (loaded: number, line: number): KernelRecord => ({
  ...{ name: "exp", kind: "elementwise", formula: "exp(x)", copies: false, device: "cpu", grid: [1, 1], buffers: 2 },
  ...{ bytes: 48, flops: 100, loaded, stored: 0, line, count: 1, spans: [] },
});
const KERNELS = [kernel(99, 3), kernel(299, 4)];
const FLUSH: TimelineFlush = { plan: 0, begin: 1, planned: 2, encoded: 3, end: 7, seconds: [] };

function recordOf(device: string, flush: Partial<TimelineFlush> = {}): TimelineRecord {
  return {
    ...{ seconds: 10, unlisted: 0, adapter: "A", finding: null, plans: [{ device, kernels: [0, 1], results: [2, 2] }] },
    flushes: [{ ...FLUSH, ...flush }],
    reads: [{ begin: 7, end: 9, bytes: 4, file: "main.py", line: 5 }],
  };
}

function of(record: TimelineRecord, lane: Lane): unknown[] {
  return barsOf(record, KERNELS).filter((bar) => bar.lane === lane).map(({ begin, end, kernel, line, known }) => [begin, end, kernel, line, known]);
}

test("on the CPU a flush computes from its encoding to its end, shared out by bytes", () => {
  const record = recordOf("cpu");
  assert.deepEqual(of(record, "planning"), [[1, 2, null, 4, "measured"]]);
  assert.deepEqual(of(record, "encoding"), [[2, 3, null, 4, "measured"]]);
  assert.deepEqual(of(record, "device"), [[3, 4, 0, 3, "shared"], [4, 7, 1, 4, "shared"]]);
  assert.deepEqual(of(record, "reads"), [[7, 9, null, 5, "measured"]]);
  assert.deepEqual(of(record, "python"), [[0, 1, null, null, "measured"], [9, 10, null, null, "measured"]]);
});

test("a GPU is done at the latest when a read has its values", () => {
  const record = recordOf("webgpu");
  assert.deepEqual(of(record, "encoding"), [[2, 7, null, 4, "measured"]]);
  assert.deepEqual(of(record, "device"), [[7, 9, null, null, "most"]]);
});

test("measured launches follow each other, and the rest of the flush is a wait", () => {
  const record = recordOf("webgpu", { seconds: [0.5, 1] });
  assert.deepEqual(of(record, "device"), [[3, 3.5, 0, 3, "measured"], [3.5, 4.5, 1, 4, "measured"]]);
  assert.deepEqual(of(record, "reads"), [[4.5, 7, null, 4, "measured"], [7, 9, null, 5, "measured"]]);
});

test("launches of one kernel are one bar", () => {
  const record = { ...recordOf("cpu", { seconds: [1, 2] }), plans: [{ device: "cpu", kernels: [1, 1], results: [2, 2] }] };
  assert.deepEqual(of(record, "device"), [[3, 6, 1, 4, "measured"]]);
  assert.equal(sumsOf(barsOf(record, KERNELS), { from: 0, to: 10 }).kernels.get(1)?.launches, 2);
});

test("a range sums the parts of bars inside it", () => {
  const { lanes, kernels } = sumsOf(barsOf(recordOf("cpu"), KERNELS), { from: 1.5, to: 5 });
  assert.deepEqual(lanes, { python: 0, planning: 0.5, encoding: 1, device: 2, reads: 0 });
  assert.deepEqual([...kernels], [
    [0, { seconds: 1, launches: 1, isMeasured: false }],
    [1, { seconds: 1, launches: 1 / 3, isMeasured: false }],
  ]);
});

test("launches for one result have its operations together", () => {
  const record = recordOf("webgpu", { seconds: [1, 3] });
  assert.deepEqual([...speedsOf(record, KERNELS)], [[0, 50], [1, 50]]);
  const apart = { ...record, plans: [{ device: "webgpu", kernels: [0, 1], results: [2, 4] }] };
  assert.deepEqual([...speedsOf(apart, KERNELS)], [[0, 100], [1, 100 / 3]]);
});

test("stored rates are those of the adapter, and of a device that computes", () => {
  const measured = { adapter: "A", bandwidth: 2, flops: 3 };
  const text = withRates("[1", measured);
  assert.deepEqual(ratesIn(text, "A"), measured);
  for (const name of ["B", "constructor", "__proto__"]) assert.equal(ratesIn(text, name), null);
  const long = { ...measured, adapter: "x".repeat(500) };
  assert.deepEqual(ratesIn(withRates(text, long), long.adapter), long);
  assert(withRates(text, long).length < 300);
  for (const stored of [null, "null", "3", "{", '{"A":null}', '{"A":[1]}', '{"A":[1,0]}', '{"A":["1",2]}', '{"A":[1e999,2]}']) {
    assert.equal(ratesIn(stored, "A"), null, stored ?? "nothing");
  }
});
