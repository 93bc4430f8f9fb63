/** The numbers that networks begin with and learn from; the same in `train/values.py`. */

const UNIT = 2 ** -24;

/** Returns 32 mixed bits for the place `i` of the array with a seed. */
function bits(seed, i) {
  let x = (i + Math.imul(seed, 0x9e3779b1)) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/** Returns float32 numbers evenly from -limit to limit. */
export function numbers(seed, count, limit) {
  const unit = (i) => (bits(seed, i) >>> 8) * UNIT;
  return Float32Array.from({ length: count }, (_, i) => (2 * unit(i) - 1) * limit);
}

/** Returns int32 numbers from 0 to kinds - 1. */
export function kinds(seed, count, kinds) {
  return Int32Array.from({ length: count }, (_, i) => (bits(seed, i) >>> 8) % kinds);
}

export const size = (shape) => shape.reduce((product, length) => product * length, 1);

/** Returns the arrays of a network's parameters by name, its inputs and its labels. */
export function valuesOf(network) {
  const parameters = {};
  for (const { name, seed, shape, limit, constant } of network.parameters) {
    const count = size(shape);
    parameters[name] = limit
      ? numbers(seed, count, limit)
      : new Float32Array(count).fill(constant);
  }
  const { inputs, labels } = network;
  const count = size(inputs.shape);
  const x = inputs.kinds ? kinds(1, count, inputs.kinds) : numbers(1, count, 1);
  return { parameters, x, y: kinds(2, size(labels.shape), labels.kinds) };
}
