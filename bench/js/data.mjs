/** The operands of a workload, and its result checked against float64 on samples. */

import { REFERENCES } from "./references.mjs";

const SAMPLES = 48;

/** Returns the same uniform numbers on every host: a hash of the element's place. */
export function operand({ shape, seed, low, high, dtype, form }) {
  // Complex numbers have their real and imaginary parts in turn.
  const size = elements(shape) * (dtype === "complex64" ? 2 : 1);
  const values = dtype === "int32" ? new Int32Array(size) : new Float32Array(size);
  const start = Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < size; i++) {
    const unit = (hash(start + i) >>> 8) / 2 ** 24;
    values[i] = low + (high - low) * unit; // an Int32Array truncates
  }
  if (form) giveForm(values, shape.at(-1), form === "positive");
  return values;
}

/** Mirrors what is below the diagonals of a stack of matrices; `positive` adds to them. */
function giveForm(values, side, isPositive) {
  for (let start = 0; start < values.length; start += side * side) {
    for (let row = 0; row < side; row++) {
      const line = start + row * side;
      for (let column = 0; column < row; column++) {
        values[start + column * side + row] = values[line + column];
      }
      if (isPositive) values[line + row] += side;
    }
  }
}

export function operands(workload) {
  return workload.inputs.map(operand);
}

/** Returns the largest error of sampled elements, relative to the reference's scale. */
export function errorOf(workload, inputs, result) {
  const size = workload.numbers ?? elements(workload.output);
  if (result.length < size) throw new Error(`result has ${result.length} of ${size}`);
  let worst = 0;
  for (const { place, value, scale } of expected(workload, inputs, size)) {
    const error = Math.abs(result[place] - value) / (scale || 1);
    if (!(error <= worst)) worst = Number.isNaN(error) ? Infinity : error;
  }
  return worst;
}

/** Yields what some places shall have: as a workload says itself, or by our reference. */
function* expected({ samples: given, ...workload }, inputs, size) {
  if (given) {
    for (const [i, place] of given.places.entries()) {
      yield { place, value: given.values[i], scale: given.scales[i] };
    }
    return;
  }
  const reference = REFERENCES[workload.program](workload, inputs);
  for (const place of samples(size)) yield { place, ...reference(place) };
}

export function elements(shape) {
  return shape.reduce((product, length) => product * length, 1);
}

/** The first, the last and others by a fixed hash, in rising order. */
function samples(size) {
  const places = new Set([0, size - 1]);
  for (let i = 0; i < SAMPLES; i++) places.add((hash(i + 77) >>> 0) % size);
  return [...places].sort((a, b) => a - b);
}

/** MurmurHash3's finalizer: every input bit reaches every output bit. */
function hash(number) {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
