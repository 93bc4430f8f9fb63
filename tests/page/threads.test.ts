/** The cells that a picture of a kernel's array shows, and the names of its elements. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOf, windowOf } from "../../web/src/panels/kernels/threads";

test("elements have the names that the text gives them", () => {
  assert.equal(nameOf({ name: "tile", space: "workgroup", shape: [4, 8] }, 13), "tile[1][5]");
  assert.equal(nameOf({ name: "x", space: "storage", shape: [4, 8] }, 13), "x[13]");
  assert.equal(nameOf({ name: "total", space: "workgroup", shape: [] }, 0), "total");
});

test("small arrays are shown whole, in lines", () => {
  assert.deepEqual(windowOf({ shape: [6] }, [1], null), { columns: 6, x: [0, 6], y: [0, 1] });
  assert.deepEqual(windowOf({ shape: [40] }, [1], null), { columns: 16, x: [0, 16], y: [0, 3] });
  assert.deepEqual(windowOf({ shape: [] }, [0], null), { columns: 1, x: [0, 1], y: [0, 1] });
  assert.deepEqual(windowOf({ shape: [0] }, [], null), { columns: 1, x: [0, 1], y: [0, 0] });
});

test("of large arrays the used cells are shown, or some around the current one", () => {
  const used = [...Array(8).keys()].map((row) => (32 + row) * 96 + 64);
  assert.deepEqual(windowOf({ shape: [96, 96] }, used, null), { columns: 96, x: [64, 65], y: [32, 40] });
  const all = [...Array(9216).keys()];
  assert.deepEqual(windowOf({ shape: [96, 96] }, all, 50 * 96 + 50), { columns: 96, x: [30, 70], y: [38, 62] });
});
