/** What the peers share: windows of convolutions, Adam, sizes of the small GPT. */

export const WINDOWS = {
  conv2d: { stride: 1, padding: 1 },
  conv2d_7x7s2: { stride: 2, padding: 3 },
};

export const WIDTH = 128;
export const HEADS = 4;
export const SCALE = Math.sqrt(2 / Math.PI); // of GELU by tanh

export const ADAM = { rate: 1e-3, first: 0.9, second: 0.999, eps: 1e-8 };

/** Returns the factors that correct the bias of Adam's two averages at a step. */
export function corrections(step) {
  return [1 / (1 - ADAM.first ** step), 1 / (1 - ADAM.second ** step)];
}

/** Returns what is added to (length, length) scores: a billion less after the query. */
export function causalMask(length) {
  const mask = (_, i) => (i % length <= Math.floor(i / length) ? 0 : -1e9);
  return Float32Array.from({ length: length * length }, mask);
}
