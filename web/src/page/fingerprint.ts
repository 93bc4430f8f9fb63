/** Compares a program's results with those of the link's sender, in one sentence. */

import type { Fingerprint } from "./protocol";
import { short, tuple } from "../parts/format";

/** Relative tolerance between floats of two GPUs, of the tensor's largest magnitude. */
const TOLERANCE = 1e-3;
/** The tolerance of dtypes with fewer digits. */
const TOLERANCES: Readonly<Record<string, number>> = { float16: 1e-2, bfloat16: 8e-2 };

/** Names of a fingerprint's `numbers`, in order; the last two are exact. */
const NUMBERS = ["smallest value", "largest value", "mean", "mean size", "trend along its elements"];
const COUNTS = ["NaN", "infinite values"];

/** Return a sentence: whether the results equal the sender's, or the first difference. */
export function compared(sent: readonly Fingerprint[], here: readonly Fingerprint[]): { isSame: boolean; text: string } {
  for (const theirs of sent) {
    const ours = here.find(({ name }) => name === theirs.name);
    const other = ours ? difference(theirs, ours) : "is missing here";
    if (other) return { isSame: false, text: `Not the sender’s result: “${theirs.name}” ${other}.` };
  }
  const names = new Set(sent.map(({ name }) => name));
  const further = here.find(({ name }) => !names.has(name));
  if (further) return { isSame: false, text: `Not the sender’s result: “${further.name}” is here alone.` };
  const many = `${sent.length} ${sent.length === 1 ? "tensor" : "tensors"}`;
  return { isSame: true, text: `Same result as the sender’s (${many}).` };
}

/** Describe how a tensor differs, as a phrase after its name; null if it does not. */
function difference(theirs: Fingerprint, ours: Fingerprint): string | null {
  const [shape, was] = [tuple(ours.shape), tuple(theirs.shape)];
  if (shape !== was) return `has the shape ${shape}, the sender’s ${was}`;
  if (ours.dtype !== theirs.dtype) return `is of dtype ${ours.dtype}, the sender’s of ${theirs.dtype}`;
  if (ours.digest !== theirs.digest) return "has other values";
  const size = Math.max(...[...theirs.numbers.slice(0, 2)].map((value) => Math.abs(value ?? 0)));
  const tolerance = TOLERANCES[theirs.dtype] ?? TOLERANCE;
  for (const [index, word] of [...NUMBERS, ...COUNTS].entries()) {
    const [now, then] = [ours.numbers[index] ?? null, theirs.numbers[index] ?? null];
    if (now === then) continue;
    const isCount = index >= NUMBERS.length;
    const apart = now === null || then === null ? Infinity : Math.abs(now - then);
    if (!isCount && apart <= tolerance * size) continue;
    if (isCount) return `has ${short(now)} ${word}, the sender’s ${short(then)}`;
    const part = size > 0 && Number.isFinite(apart) ? `, ${short((100 * apart) / size)} % of its largest magnitude apart` : "";
    return `has the ${word} ${short(now)}, the sender’s ${short(then)}${part}`;
  }
  return null;
}
