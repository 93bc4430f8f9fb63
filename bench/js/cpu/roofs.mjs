/**
 * What one thread can do at most, in hand-made WebAssembly: the micro-kernel of a matrix
 * product on packed operands, a sum and a copy.
 */

import * as wasm from "./assembler.mjs";

const PAGE = 65536;
const VECTOR = 16; // bytes
const LANES = 4;

const ROWS = 5;
const VECTORS = 2; // of a row of the tile
const DEPTH = 512;
const UNROLLED = 4;
const ACCUMULATORS = 8;

/** Opens the roofs as a library whose cases are those of the specification's rows. */
export function open() {
  let memory = null;
  return {
    name: "WebAssembly",
    cases({ program, work }) {
      const { module, run, nbytes } = ROOFS[program](work);
      memory = new WebAssembly.Memory({ initial: Math.ceil(nbytes / PAGE) + 1 });
      new Float32Array(memory.buffer).fill(1 / 1024);
      const instance = new WebAssembly.Instance(new WebAssembly.Module(module), {
        m: { memory },
      });
      return [
        {
          name: "WebAssembly",
          run: (count) => run(instance.exports.run, count),
          sync: () => {},
        },
      ];
    },
    end() {
      memory = null;
    },
  };
}

/** Programs of the roofs in `bench/cpu.py`; each takes the work of an operation. */
export const ROOFS = {
  microkernel: (work) => product(work, false),
  microkernel_relaxed: (work) => product(work, true),
  // Bytes read.
  sum: (nbytes) => ({
    module: sum(),
    nbytes: nbytes + PAGE,
    run: (run, count) => repeat(count, () => run(PAGE, nbytes, 0)),
  }),
  // Half of the bytes are read, half are written.
  copy: (nbytes) => ({
    module: copy(),
    nbytes: nbytes + PAGE,
    run: (run, count) => repeat(count, () => run(0, nbytes / 2 + PAGE, nbytes / 2)),
  }),
};

function repeat(count, action) {
  for (let i = 0; i < count; i++) action();
}

/** Tiles in a row, all on the same operands: nothing but the innermost loop. */
function product(work, isRelaxed) {
  const tiles = work / (2 * ROWS * VECTORS * LANES * DEPTH);
  const left = DEPTH * ROWS * 4;
  const right = DEPTH * VECTORS * VECTOR;
  return {
    module: tile(isRelaxed),
    nbytes: left + right + ROWS * VECTORS * VECTOR,
    run: (run, count) => repeat(count, () => run(0, left, left + right, tiles)),
  };
}

/** Parameters: addresses of both packed operands and of the tile, number of tiles. */
function tile(isRelaxed) {
  const [left, right, result, tiles, leftNow, rightNow, depth, first] = Array(8).keys();
  const sums = ROWS * VECTORS;
  const column = (v) => first + sums + v;
  const scalar = first + sums + VECTORS;
  const body = [];
  for (let k = 0; k < UNROLLED; k++) {
    for (let v = 0; v < VECTORS; v++) {
      const place = (k * VECTORS + v) * VECTOR;
      body.push(...wasm.get(rightNow), ...wasm.load(place), ...wasm.set(column(v)));
    }
    for (let row = 0; row < ROWS; row++) {
      const place = (k * ROWS + row) * 4;
      body.push(...wasm.get(leftNow), ...wasm.splat(place), ...wasm.set(scalar));
      for (let v = 0; v < VECTORS; v++) {
        const sum = wasm.get(first + row * VECTORS + v);
        const factors = [...wasm.get(scalar), ...wasm.get(column(v))];
        if (isRelaxed) body.push(...factors, ...sum, ...wasm.relaxedMultiplyAdd);
        else body.push(...factors, ...wasm.multiply, ...sum, ...wasm.add);
        body.push(...wasm.set(first + row * VECTORS + v));
      }
    }
  }
  body.push(...wasm.increase(leftNow, UNROLLED * ROWS * 4));
  body.push(...wasm.increase(rightNow, UNROLLED * VECTORS * VECTOR));
  const whole = [...wasm.get(left), ...wasm.set(leftNow)];
  whole.push(...wasm.get(right), ...wasm.set(rightNow));
  whole.push(...wasm.constant(DEPTH), ...wasm.set(depth));
  for (let i = 0; i < sums; i++) whole.push(...wasm.zero, ...wasm.set(first + i));
  whole.push(...wasm.loop(depth, UNROLLED, body));
  for (let i = 0; i < sums; i++) {
    whole.push(...wasm.get(result), ...wasm.get(first + i), ...wasm.store(i * VECTOR));
  }
  return wasm.moduleOf({
    parameters: 4,
    locals: [
      [3, wasm.I32],
      [sums + VECTORS + 1, wasm.V128],
    ],
    code: wasm.loop(tiles, 1, whole),
  });
}

/** Parameters: address, bytes, address of the result. */
function sum() {
  const [address, nbytes, result, first] = Array(4).keys();
  const step = ACCUMULATORS * VECTOR;
  const body = [];
  for (let i = 0; i < ACCUMULATORS; i++) {
    body.push(...wasm.get(first + i), ...wasm.get(address), ...wasm.load(i * VECTOR));
    body.push(...wasm.add, ...wasm.set(first + i));
  }
  body.push(...wasm.increase(address, step));
  const code = [...wasm.loop(nbytes, step, body), ...wasm.get(result), ...wasm.get(first)];
  for (let i = 1; i < ACCUMULATORS; i++) code.push(...wasm.get(first + i), ...wasm.add);
  code.push(...wasm.store(0));
  return wasm.moduleOf({ parameters: 3, locals: [[ACCUMULATORS, wasm.V128]], code });
}

/** Parameters: source, destination, bytes. */
function copy() {
  const [source, destination, nbytes] = Array(3).keys();
  const body = [];
  for (let place = 0; place < 4 * VECTOR; place += VECTOR) {
    body.push(...wasm.get(destination), ...wasm.get(source));
    body.push(...wasm.load(place), ...wasm.store(place));
  }
  body.push(...wasm.increase(source, 4 * VECTOR));
  body.push(...wasm.increase(destination, 4 * VECTOR));
  const code = wasm.loop(nbytes, 4 * VECTOR, body);
  return wasm.moduleOf({ parameters: 3, locals: [], code });
}
