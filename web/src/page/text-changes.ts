/** The minimal changes from one text to another, so that cursors and marks keep their positions. */

import type { Change } from "./editor";

/** Above this count of table cells the texts are not compared: all of the part counts as changed. */
const MOST_CELLS = 4_000_000;

interface Difference {
  fromA: number;
  toA: number;
  fromB: number;
  toB: number;
}

/** The changes from one text to another: lines are compared first, then their characters. */
export function changesBetween(before: string, after: string): Change[] {
  const [a, b] = [lines(before), lines(after)];
  const [startsA, startsB] = [starts(a), starts(b)];
  return differences(a, b).flatMap((part) => {
    const from = startsA[part.fromA] ?? before.length;
    const old = [...a.slice(part.fromA, part.toA).join("")];
    const now = [...b.slice(part.fromB, part.toB).join("")];
    const [offsets, texts] = [starts(old), starts(now)];
    const text = after.slice(startsB[part.fromB] ?? after.length);
    return differences(old, now).map(({ fromA, toA, fromB, toB }) => ({
      from: from + (offsets[fromA] ?? 0),
      to: from + (offsets[toA] ?? 0),
      insert: text.slice(texts[fromB] ?? 0, texts[toB] ?? 0),
    }));
  });
}

/** The lines of a text, with their line breaks. */
function lines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+/g) ?? [];
}

/** The offset of each piece, and the end of the last one. */
function starts(pieces: readonly string[]): number[] {
  const offsets = [0];
  for (const piece of pieces) offsets.push((offsets.at(-1) ?? 0) + piece.length);
  return offsets;
}

/** The parts outside the longest common subsequence, in order. */
function differences(a: readonly string[], b: readonly string[]): Difference[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const most = Math.min(a.length, b.length) - head;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [endA, endB] = [a.length - tail, b.length - tail];
  if (head === endA && head === endB) return [];
  const whole = { fromA: head, toA: endA, fromB: head, toB: endB };
  const [rows, columns] = [endA - head, endB - head];
  if (rows === 0 || columns === 0 || rows * columns > MOST_CELLS) return [whole];
  const width = columns + 1;
  const longest = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const here = row * width + column;
      longest[here] =
        a[head + row] === b[head + column]
          ? (longest[here + width + 1] ?? 0) + 1
          : Math.max(longest[here + width] ?? 0, longest[here + 1] ?? 0);
    }
  }
  return walk(a, b, whole, longest, width);
}

function walk(a: readonly string[], b: readonly string[], whole: Difference, longest: Uint16Array, width: number): Difference[] {
  const result: Difference[] = [];
  let [i, j] = [whole.fromA, whole.fromB];
  let open: Difference | null = null;
  while (i < whole.toA || j < whole.toB) {
    if (i < whole.toA && j < whole.toB && a[i] === b[j]) {
      open = null;
      i += 1;
      j += 1;
      continue;
    }
    if (!open) result.push((open = { fromA: i, toA: i, fromB: j, toB: j }));
    const here = (i - whole.fromA) * width + (j - whole.fromB);
    if (j >= whole.toB || (i < whole.toA && (longest[here + width] ?? 0) >= (longest[here + 1] ?? 0))) i += 1;
    else j += 1;
    open.toA = i;
    open.toB = j;
  }
  return result;
}
