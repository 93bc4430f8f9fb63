/** Definitions that the peers share: windows of convolutions, and a causal mask. */

export const WINDOWS = {
  conv2d: { stride: 1, padding: 1 },
  conv2d_7x7s2: { stride: 2, padding: 3 },
};

/** Returns what is added to (length, length) scores: a billion less after the query. */
export function causalMask(length) {
  const mask = (_, i) => (i % length <= Math.floor(i / length) ? 0 : -1e9);
  return Float32Array.from({ length: length * length }, mask);
}
