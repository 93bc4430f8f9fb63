/** What differs between two runs. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { differencesOf, type RunResults } from "../../web/src/panels/compare/run-differences";
import { RESPONSES } from "./records";

const run = RESPONSES.run;
const [tensor] = RESPONSES.describe;
const [kernel] = run.kernels;
if (!tensor || !kernel) throw new Error("the records have a tensor and a kernel");
const results = (more: Partial<RunResults>): RunResults => ({ run, tensors: [], device: "cpu", source: "a\n", ...more });

test("equal runs differ in nothing", () => {
  const now = results({ tensors: [{ ...tensor, name: "x", min: 1, max: 2, mean: 1.5 }] });
  assert.deepEqual(differencesOf(now, now), { program: "Both runs are of the same program.", facts: [], tensors: [], equal: 1, kernels: [] });
});

test("lines of the program that differ are counted, with the first", () => {
  const words = (before: string, now: string): string => differencesOf(results({ source: before }), results({ source: now })).program;
  assert.equal(words("a = 1\nb = 2\nc = 3\n", "a = 1\nb = 5\nc = 3\n"), "1 line of main.py differs: line 2.");
  const other = "import tensorweb\nx = 7\ny = 1\nz = 2\nw = 3\nprint(x)";
  assert.equal(words("import tensorweb\nx = 6\ny = 1\nz = 2\nw = 3", other), "2 lines of main.py differ: the first is line 2.");
  assert.equal(words("a\nb\nc", "a"), "2 lines of main.py differ: the first is line 2.");
});

test("tensors are compared by name, type, range and mean", () => {
  const x = { ...tensor, name: "x", min: 1, max: 2, mean: 1.5, nan: 0, inf: 0 };
  const before = results({ tensors: [x, { ...x, name: "gone" }] });
  const now = results({ tensors: [{ ...x, mean: 1.25 }, { ...x, name: "new" }] });
  const found = differencesOf(before, now);
  assert.deepEqual(
    found.tensors.map(({ name, before, now }) => [name, before === null, now === null]),
    [["x", false, false], ["gone", false, true], ["new", true, false]],
  );
  assert.equal(found.tensors[0]?.now?.endsWith("mean 1.25"), true);
  assert.equal(found.equal, 0);
});

test("kernels and costs of both runs stand side by side", () => {
  const now = results({ device: "webgpu", run: { ...run, kernels: [{ ...kernel, count: 3 }] } });
  const { facts, kernels } = differencesOf(results({}), now);
  assert.deepEqual(facts.map(({ name }) => name), ["device", "launches", "bytes moved"]);
  assert.deepEqual(kernels, [{ name: "exp(x) (exp)", before: "1 ×", now: "3 ×" }]);
});
