/** The operands of a workload, and the error of a result on float64 samples. */

const SAMPLE_HASH = [0x85ebca6b, 0xc2b2ae35]; // MurmurHash3's finalizer

/** Returns uniform numbers, equal on every host: a hash of each element's index. */
export function operand({ shape, seed, low, high, dtype, form }) {
  // The real and imaginary parts of complex numbers alternate.
  const size = elements(shape) * (dtype === "complex64" ? 2 : 1);
  const values = dtype === "int32" ? new Int32Array(size) : new Float32Array(size);
  const start = Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < size; i++) {
    const unit = (hash(start + i) >>> 8) / 2 ** 24;
    values[i] = low + (high - low) * unit; // an Int32Array truncates
  }
  if (form) makeSymmetric(values, shape.at(-1), form === "positive");
  return values;
}

/** Copies the lower triangles of a stack of matrices; `isPositive` adds to diagonals. */
function makeSymmetric(values, side, isPositive) {
  for (let start = 0; start < values.length; start += side * side) {
    for (let row = 0; row < side; row++) {
      const first = start + row * side;
      for (let column = 0; column < row; column++) {
        values[start + column * side + row] = values[first + column];
      }
      if (isPositive) values[first + row] += side;
    }
  }
}

export function operands({ inputs }) {
  return inputs.map(operand);
}

/** Returns the largest error of the sampled elements, relative to their scales. */
export function errorOf({ numbers, samples }, result) {
  if (result.length < numbers) throw new Error(`result has ${result.length} of ${numbers}`);
  let worst = 0;
  for (const [i, index] of samples.indices.entries()) {
    const error = Math.abs(result[index] - samples.values[i]) / samples.scales[i];
    if (!(error <= worst)) worst = Number.isNaN(error) ? Infinity : error;
  }
  return worst;
}

export function elements(shape) {
  return shape.reduce((product, length) => product * length, 1);
}

function hash(number) {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), SAMPLE_HASH[0]);
  bits = Math.imul(bits ^ (bits >>> 13), SAMPLE_HASH[1]);
  return bits ^ (bits >>> 16);
}
