/** What all training steps share; the same in `train/models.py` and `tw.optim.Adam`. */

export const WIDTH = 128;
export const HEADS = 4;
export const SLOPE = Math.sqrt(2 / Math.PI);

export const ADAM = { rate: 1e-3, first: 0.9, second: 0.999, eps: 1e-8 };

/** Returns what Adam's two means of a step are multiplied by, since they began at zero. */
export function corrections(step) {
  return [1 / (1 - ADAM.first ** step), 1 / (1 - ADAM.second ** step)];
}
