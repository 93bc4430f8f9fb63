/** How a view reads its storage: positions, order of visit, blocks, words. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TensorRecord } from "../../web/src/page/protocol";
import {
  addressOf,
  indexAt,
  originOf,
  positionOf,
  readBlocks,
  sharersOf,
  stepOf,
  stridesInWords,
  Visits,
  type ViewFacts,
} from "../../web/src/panels/tensors/storage";
import { sizeOf } from "../../web/src/parts/format";
import { RESPONSES } from "./records";

const TRANSPOSED: ViewFacts = { shape: [3, 2], strides: [1, 3], offset: 0 };
const REVERSED: ViewFacts = { shape: [2, 3], strides: [3, -1], offset: 2 };
const BROADCAST: ViewFacts = { shape: [4, 3], strides: [0, 1], offset: 3 };

/** Visit every element. */
function everyBlock(view: ViewFacts, block: number, blocks: number): Uint8Array {
  const found = new Uint8Array(blocks);
  for (let step = 0; step < sizeOf(view.shape); step++) {
    found[Math.floor(positionOf(view, indexAt(view.shape, step)) / block)] = 1;
  }
  return found;
}

test("positions follow offset and strides, and steps row-major order", () => {
  assert.equal(positionOf(REVERSED, [1, 2]), 3);
  assert.deepEqual(indexAt([2, 3, 5], 17), [1, 0, 2]);
  assert.equal(stepOf([2, 3, 5], [1, 0, 2]), 17);
  assert.equal(addressOf("x", REVERSED, [1, 2]), "x[1, 2] is storage[2 + 1·3 − 2·1] = storage[3]");
  assert.equal(addressOf("s", { shape: [], strides: [], offset: 4 }, []), "s[()] is storage[4] = storage[4]");
});

test("the blocks that a view reads are those of its elements", () => {
  const views: ViewFacts[] = [TRANSPOSED, REVERSED, BROADCAST];
  views.push({ shape: [3, 4], strides: [16, 2], offset: 1 }, { shape: [5, 3, 2], strides: [7, 2, -40], offset: 45 });
  views.push({ shape: [6, 3], strides: [1, 1], offset: 0 }, { shape: [0, 3], strides: [3, 1], offset: 0 }, { shape: [], strides: [], offset: 9 });
  for (let seed = 1; seed <= 200; seed++) {
    const shape = [1 + (seed % 4), 1 + ((seed * 7) % 5), 1 + ((seed * 3) % 3)];
    const strides = [(seed * 13) % 29, ((seed * 5) % 17) - 8, ((seed * 11) % 9) - 4];
    const offset = strides.reduce((sum, stride, axis) => sum - Math.min(stride, 0) * ((shape[axis] ?? 1) - 1), 0);
    views.push({ shape, strides, offset });
  }
  for (const view of views) {
    for (const block of [1, 2, 3, 7]) {
      const blocks = Math.ceil(200 / block);
      assert.deepEqual(readBlocks(view, block, blocks), everyBlock(view, block, blocks), JSON.stringify({ view, block }));
    }
  }
});

test("the blocks of a tensor with a billion elements are found at once", () => {
  const view = { shape: [1 << 15, 1 << 15], strides: [1, 1 << 15], offset: 0 };
  assert(readBlocks(view, 1 << 18, 1 << 12).every((one) => one === 1));
});

test("a storage position has the steps that read it", () => {
  assert.deepEqual(new Visits(BROADCAST, 12).at(4), [1, 4, 7, 10]);
  assert.deepEqual(new Visits(BROADCAST, 12).at(0), []);
  assert.deepEqual(new Visits(TRANSPOSED, 6).at(3), [1]);
});

const tensor = (id: number, change: Partial<TensorRecord>): TensorRecord => ({
  ...(RESPONSES.describe[0] as TensorRecord),
  ...{ id, name: `t${id}`, shape: [6], strides: [1], offset: 0, contiguous: true, size: 6 },
  storage: { id: 7, size: 6, made: "computed", line: 2 },
  ...change,
});

test("tensors share a storage by its id, and a view is one of the first named", () => {
  const [x, y] = [tensor(0, {}), tensor(1, { ...TRANSPOSED, contiguous: false })];
  const other = tensor(2, { storage: { id: 8, size: 6, made: "computed", line: 3 } });
  assert.deepEqual(sharersOf(y, [x, y, other]), [x]);
  assert.equal(originOf(y, [x]), "This is a view of t0: nothing was copied.");
  assert.equal(originOf(x, [y]), "Contiguous, with its own storage.");
  assert(originOf(y, []).startsWith("A view of a storage that no name reads in full"));
});

test("copies say their line, and why if that is known", () => {
  const made = (how: "reshape" | "copy" | "constant", line: number | null): string => originOf(tensor(0, { storage: { id: 1, size: 6, made: how, line } }), []);
  assert.equal(made("reshape", 3), "Copied in line 3, because no strides express the new shape in the old storage.");
  assert.equal(made("copy", 4), "A copy, made in line 4.");
  assert.equal(made("copy", null), "A copy.");
  assert(made("constant", 1).startsWith("A constant: one value stands for all elements"));
});

test("strides are said in words, zero and negative ones too", () => {
  assert.equal(
    stridesInWords({ shape: [4, 3, 1, 2], strides: [0, -2, 9, 1], offset: 5 }),
    "Starts at storage[5]. Axis 0 has stride 0: all 4 indices read the same elements (broadcast). " +
      "A step along axis 1 goes back 2 elements: it is read in reverse. A step along axis 3 goes on 1 element.",
  );
});
