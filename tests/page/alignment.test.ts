/** Which cells of operands a cell of a result reads. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { aligned } from "../../web/src/panels/output/shape-alignment";
import { cellsAt, originOf, ravel, repeatedAxes, unravel, writtenCell } from "../../web/src/panels/why/aligned-cells";

test("cells are counted row by row", () => {
  const shape = [2, 3, 5];
  assert.deepEqual(unravel(29, shape), [1, 2, 4]);
  assert.equal(ravel([1, 2, 4], shape), 29);
  assert.deepEqual(unravel(0, []), []);
});

test("an axis of length 1 and a missing axis are repeated", () => {
  assert.deepEqual(originOf([1, 2, 4], [3, 1]), [2, 0]);
  assert.deepEqual(originOf([1, 2], []), []);
  assert.deepEqual(repeatedAxes([3, 1], [2, 3, 5]), [0, 2]);
  assert.deepEqual(repeatedAxes([1], [1]), []);
});

test("a cell of a product reads a row and a column", () => {
  const { operands } = cellsAt({ rule: "matmul" }, [1, 2, 4], 3);
  assert.deepEqual(operands, [[1, 2, 3], [1, 3, 4]]);
  assert.deepEqual(writtenCell([1, 2, 3], [5, 7], 0), [2, 3]);
  assert.deepEqual(writtenCell([1, 3, 0], [7], 1), [3]);
  assert.deepEqual(writtenCell([0, 3], [7], 0), [3]);
});

test("the shapes of a product stand in one row of boxes for each, also those of vectors", () => {
  const lengths = (...shapes: number[][]): (number | null)[][] => {
    const operands = shapes.map((shape) => ({ text: "", shape, axis: null }));
    return aligned({ rule: "matmul", operands, joined: null }).rows.map((row) => row.map(({ kind, length }) => (kind === "none" ? null : length)));
  };
  assert.deepEqual(lengths([2, 3, 5], [5, 7], [2, 3, 7]), [[2, 3, 5, null], [null, null, 5, 7], [2, 3, null, 7]]);
  assert.deepEqual(lengths([3, 5], [5], [3]), [[3, 5, null], [null, 5, null], [3, null, null]]);
  assert.deepEqual(lengths([5], [5, 7], [7]), [[null, 5, null], [null, 5, 7], [null, null, 7]]);
});
