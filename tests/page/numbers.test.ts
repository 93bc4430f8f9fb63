/** Numbers that are dragged: which text is a number, and its text after some steps. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { python } from "@codemirror/lang-python";
import { EditorState } from "@codemirror/state";
import { literalAt, stepped } from "../../web/src/panels/editor/numbers";

const STEPS: readonly (readonly [string, number, string])[] = [
  ["3", 1, "4"],
  ["3", -5, "-2"],
  ["-2", 2, "0"],
  ["64", 1, "65"],
  ["640", 2, "660"],
  ["1_000_000", 1, "1_100_000"],
  ["0.1", 1, "0.11"],
  ["0.25", -1, "0.24"],
  ["1.0", 3, "1.3"],
  ["0.05", -5, "0.045"],
  ["0.05", -50, "0.000"],
  ["-0.5", 50, "0.00"],
  [".5", 1, "0.51"],
  ["1.", 1, "1.1"],
  ["1e-3", 1, "1.1e-3"],
  ["2.50e4", -1, "2.49e4"],
  ["1e-3", 0, "1e-3"],
];

test("a step is one of the last digit, or of the second digit", () => {
  for (const [text, steps, after] of STEPS) assert.equal(stepped(text, steps), after, `${text} ${steps}`);
});

test("decimal numbers of the code are found with their minus sign", () => {
  const found = (doc: string, position: number): string | undefined =>
    literalAt(EditorState.create({ doc, extensions: python() }), position)?.text;
  assert.equal(found("x = -0.5 * y", 6), "-0.5");
  assert.equal(found("x = a-3", 6), "3");
  assert.equal(found("x = f(12)", 8), "12");
  assert.equal(found("x = '12'", 6), undefined);
  assert.equal(found("x12 = 0xff", 8), undefined);
  assert.equal(found("x = 2j", 5), undefined);
  assert.equal(found("# 12", 3), undefined);
});
