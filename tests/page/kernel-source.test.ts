/** Expressions of a program at a kernel's text, and results of another program. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { whyElsewhere } from "../../web/src/page/run-origin";
import type { View } from "../../web/src/page/view";
import { spansAt, textOf } from "../../web/src/panels/kernels/source";

const span = (line: number, column: number | null, endLine: number, endColumn: number | null) => ({ line, column, endLine, endColumn });

test("an expression is the text between its columns", () => {
  const program = "x = 1\ny = (x * 2\n  + 1) / z\n";
  assert.equal(textOf(span(2, 5, 2, 10), program), "x * 2");
  assert.equal(textOf(span(2, 4, 3, 6), program), "(x * 2\n  + 1)");
  assert.equal(textOf(span(1, null, 1, null), program), "x = 1");
});

test("the innermost expression at a column is found, or all of the line", () => {
  const present = [
    { key: "sum", now: span(2, 4, 2, 12) },
    { key: "product", now: span(2, 4, 2, 9) },
    { key: "other", now: span(3, 0, 3, 4) },
  ];
  assert.deepEqual(spansAt(present, 2, 6), ["product"]);
  assert.deepEqual(spansAt(present, 2, 10), ["sum"]);
  assert.deepEqual(spansAt(present, 2, null), ["sum", "product"]);
  assert.deepEqual(spansAt(present, 1, 0), []);
});

test("results belong to the open program or to a named one", () => {
  const view = (run: string | null, open: string): View =>
    ({ origins: { run: run === null ? null : { document: run, title: "Waves" } }, document: { id: open } }) as unknown as View;
  assert.equal(whyElsewhere(view("a", "a")), null);
  assert.equal(whyElsewhere(view(null, "a")), null);
  assert.equal(whyElsewhere(view("a", "b"))?.includes("“Waves”"), true);
});
