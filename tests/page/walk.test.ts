/** The walk through results, and the lesson made of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { focused } from "../../web/src/page/focus";
import type { View } from "../../web/src/page/view";
import { lesson, walked, type Step } from "../../web/src/page/walk";

const START = { result: "tensors", tensor: "", tensors: [{ name: "y", dtype: "float32", shape: [2, 3] }], viewSettings: null, focus: null };

function walk(...states: Partial<View>[]): readonly Step[] {
  let steps: readonly Step[] = [];
  for (const state of states) steps = walked(steps, { ...START, ...state } as unknown as View, (panel) => panel.toUpperCase());
  return steps;
}

function film(step: number): Partial<View> {
  return { result: "film", focus: focused(null, { film: { result: 0, step, name: "x" } }) };
}

test("a walk has a step for each thing that was looked at", () => {
  const cell = { name: "y", index: [1, 2], value: "2.5", line: 4, search: null };
  const why = { result: "why", focus: focused(null, { why: [cell] }) };
  const steps = walk({}, { tensor: "y" }, { result: "why" }, why, why, { result: "why" }, { result: "memory" });
  assert.deepEqual(
    steps.map(({ text }) => text),
    ["Look at `y`, float32 (2, 3).", "Ask why `y[1, 2]` is `2.5`; line 4 made it.", "Open the panel *MEMORY*."],
  );
  assert.equal(steps[1]?.looked.focus, why.focus);
});

test("a slider leaves its last step", () => {
  assert.deepEqual(walk(film(1), film(2), film(5)).map(({ text }) => text), ["Look at step 5 of `x` in the panel *FILM*."]);
});

test("a lesson is Markdown in which names are text", () => {
  const [step] = walk({ result: "kernels", focus: focused(null, { kernel: { kernel: 0, name: "a`b" } }) });
  const text = lesson("<b> *x*\n", "https://e.org/#code=a", [{ text: step?.text ?? "", link: "https://e.org/#code=a&at=b" }]);
  assert.equal(
    text,
    "# \\<b\\> \\*x\\*\n\nOpen [the program](https://e.org/#code=a), read it, and press Run.\n\n1. Read kernel 1, `` a`b ``. [Show](https://e.org/#code=a&at=b)\n",
  );
});

test("what a link calls a value is no Markdown", () => {
  const cell = { name: "", index: [], value: "`` [x](https://e.org) ``\n", line: null, search: null };
  const steps = walk({ result: "why", focus: focused(null, { why: [cell] }) });
  assert.equal(steps[0]?.text, "Ask why ` ` is ``` `` [x](https://e.org) ``  ```.");
});
