/** Shapes that do not fit: their columns, and the lengths that are marked. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { aligned, summaryOf } from "../../web/src/panels/output/shape-alignment";
import type { ShapeClash } from "../../web/src/page/protocol";

type Clash = Pick<ShapeClash, "rule" | "operands" | "joined">;

const clash = (rule: Clash["rule"], shapes: number[][], joined: number | null = null): Clash => ({
  rule,
  operands: shapes.map((shape, at) => ({ text: "xyz"[at] ?? "", shape, axis: null })),
  joined,
});

/** The rows as texts: `!` wrong, `~` joined, `()` implied, `.` no box. */
function drawn(one: Clash): string[] {
  const signs = { none: () => ".", fits: String, wrong: (n: number) => `!${n}`, joined: (n: number) => `~${n}`, implied: (n: number) => `(${n})` };
  return aligned(one).rows.map((row) => row.map(({ kind, length }) => signs[kind](length)).join(" "));
}

test("broadcasting aligns at the right and marks every axis that differs", () => {
  assert.deepEqual(drawn(clash("broadcast", [[4, 3], [4]])), ["4 !3", "(1) !4"]);
  assert.deepEqual(drawn(clash("broadcast", [[2, 4, 3], [2, 4]])), ["2 !4 !3", "(1) !2 !4"]);
  assert.deepEqual(drawn(clash("broadcast", [[4, 1], [1, 3], [4, 2]])), ["4 1", "1 !3", "4 !2"]);
});

test("a requested shape is not changed by broadcasting", () => {
  assert.deepEqual(drawn(clash("broadcast_to", [[4], [4, 3]])), ["(1) !4", "4 !3"]);
  assert.deepEqual(drawn(clash("broadcast_to", [[1, 4], [1, 1]])), ["1 !4", "1 1"]);
});

test("a product aligns the inner axes", () => {
  assert.deepEqual(drawn(clash("matmul", [[4, 3], [2, 4]])), ["4 !3 .", ". !2 4"]);
  assert.deepEqual(drawn(clash("matmul", [[4, 1], [2, 4]])), ["4 !1 .", ". !2 4"]);
  assert.deepEqual(drawn(clash("matmul", [[5, 2, 4], [3, 4, 6]])), ["!5 2 4 .", "!3 . 4 6"]);
  assert.deepEqual(drawn(clash("matmul", [[3], [4, 2]])), [". !3 .", ". !4 2"]);
  assert.deepEqual(drawn(clash("matmul", [[2, 3], [4]])), ["2 !3 .", ". !4 ."]);
});

test("joining compares all axes but one", () => {
  assert.deepEqual(drawn(clash("concat", [[2, 4], [2, 3]], 0)), ["~2 !4", "~2 !3"]);
  assert.deepEqual(drawn(clash("concat", [[2, 4], [2]], 0)), ["~2 !4", "~2 ."]);
});

test("axes that belong together are in the columns that the record names", () => {
  const scores = { text: "scores", shape: [4, 3], axis: null, columns: [0, 1] };
  const labels = { text: "labels", shape: [4, 1], axis: 1, columns: [0, 2] };
  const losses: Clash = { rule: "aligned", operands: [scores, labels], joined: null };
  assert.deepEqual(drawn(losses), ["4 3 .", "4 . !1"]);
  const image = { text: "image", shape: [8, 5, 7, 3], axis: 1, columns: [0, 1, 2, 3] };
  const expected = { text: "", shape: [-1, 3, -1, -1], axis: 1, columns: [0, 1, 2, 3] };
  const layer: Clash = { rule: "expected", operands: [image, expected], joined: null };
  assert.deepEqual(drawn(layer), ["8 !5 7 3", "-1 !3 -1 -1"]);
  assert.equal(summaryOf(layer), "image (8, 5, 7, 3), expected (any, 3, any, any); lengths that do not fit: 5 and 3");
});

test("a window and an index are compared with the axes that they are for", () => {
  const image = { text: "image", shape: [2, 3, 6, 7], axis: 2, columns: [0, 1, 2, 3] };
  const window: Clash = { rule: "window", operands: [image, { text: "", shape: [9, 3], axis: 0, columns: [2, 3] }], joined: null };
  assert.deepEqual(drawn(window), ["2 3 !6 7", ". . !9 3"]);
  assert.equal(summaryOf(window), "image (2, 3, 6, 7), one window (9, 3); lengths that do not fit: 6 and 9");
  const table = { text: "", shape: [10, 4], axis: 0, columns: [0, 1] };
  const index: Clash = { rule: "index", operands: [{ text: "", shape: [11], axis: 0, columns: [0] }, table], joined: null };
  assert.deepEqual(drawn(index), ["!11 .", "!10 4"]);
  assert.equal(summaryOf(index), "index 11, indexed (10, 4); lengths that do not fit: 11 and 10");
});

test("the picture has words", () => {
  assert.equal(summaryOf(clash("broadcast", [[4, 3], [4]])), "x (4, 3), y (4,); lengths that do not fit: 3 and 4");
  assert.equal(summaryOf(clash("reshape", [[4, 3], [5, -1]])), "x (4, 3), y (5, -1)");
});
