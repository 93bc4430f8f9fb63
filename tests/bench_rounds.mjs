/**
 * Times cases in turn by a clock of our own, and runs the hand-made modules of the roofs
 * on small memories; prints both.
 */

import { ROOFS } from "../bench/js/cpu/roofs.mjs";
import { measureInTurn } from "../bench/js/cpu/rounds.mjs";

let now = 0;
const order = [];

function taking(name, milliseconds) {
  return {
    async batch(count) {
      order.push(`${name} ${count}`);
      now += count * milliseconds();
      return count * milliseconds();
    },
  };
}

let calls = 0;
const cases = [
  taking("steady", () => 0.5),
  taking("warming", () => (++calls > 6 ? 0.25 : 1)),
  taking("hopeless", () => 900),
  { batch: async () => Promise.reject(new Error("no memory")) },
];
const options = { batch: 20, rounds: 4, pause: async () => order.push("pause") };
const found = await measureInTurn(cases, options);
const times = found.map(({ error, ...rest }) => (error ? { error: error.message } : rest));

/** Runs a roof once on numbers that count up, and returns its memory. */
function memoryAfter(program, work) {
  const { module, nbytes, run } = ROOFS[program](work);
  const memory = new WebAssembly.Memory({ initial: Math.ceil(nbytes / 65536) + 1 });
  const values = new Float32Array(memory.buffer);
  for (let i = 0; i < values.length; i++) values[i] = i % 7;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(module), {
    m: { memory },
  });
  const before = values.slice();
  run(instance.exports.run, 1);
  return { before, values };
}

/** The largest error of a tile: 5 rows and 8 columns over a depth of 512, packed. */
function tileError({ before, values }) {
  const [right, result] = [512 * 5, 512 * 5 + 512 * 8];
  let worst = 0;
  for (let row = 0; row < 5; row++) {
    for (let column = 0; column < 8; column++) {
      let sum = 0;
      for (let k = 0; k < 512; k++) sum += before[k * 5 + row] * before[right + k * 8 + column];
      worst = Math.max(worst, Math.abs(values[result + row * 8 + column] - sum));
    }
  }
  return worst;
}

const summed = memoryAfter("sum", 4096);
const copied = memoryAfter("copy", 8192);
const distance = 1024 + 16384; // elements: what is copied, and a page
const roofs = {
  tile: tileError(memoryAfter("microkernel", 2 * 40 * 512 * 3)),
  sum: summed.values.subarray(0, 4).reduce((a, b) => a + b),
  wanted: summed.before.subarray(16384, 16384 + 1024).reduce((a, b) => a + b),
  copied: copied.before.subarray(0, 1024).every((x, i) => copied.values[distance + i] === x),
};
// Relaxed operations are not in every Node; their bytes differ in nothing else.
const [plain, relaxed] = ["microkernel", "microkernel_relaxed"].map(
  (name) => ROOFS[name](2 * 40 * 512).module.length,
);
console.log(JSON.stringify({ times, order, roofs, plain, relaxed }));
