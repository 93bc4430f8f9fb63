/** How a tensor reads its storage: positions, order of visit, the elements read, in numbers and words. */

import { count, tuple } from "../../parts/format";
import type { TensorRecord } from "../../page/protocol";

/** A tensor's view of its storage, in elements. */
export type ViewFacts = Pick<TensorRecord, "shape" | "strides" | "offset">;

/** The storage position of an element. */
export function positionOf({ strides, offset }: ViewFacts, index: readonly number[]): number {
  return index.reduce((sum, i, axis) => sum + i * (strides[axis] ?? 0), offset);
}

/** The index of the element that row-major order visits at a step, from 0. */
export function indexAt(shape: readonly number[], step: number): number[] {
  const index = shape.map(() => 0);
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const length = Math.max(shape[axis] ?? 1, 1);
    index[axis] = step % length;
    step = Math.floor(step / length);
  }
  return index;
}

/** The step at which row-major order visits an element. */
export function stepOf(shape: readonly number[], index: readonly number[]): number {
  return shape.reduce((step, length, axis) => step * length + (index[axis] ?? 0), 0);
}

/** `x[1, 2] is storage[0 + 1·3 + 2·1] = storage[5]`. */
export function addressOf(name: string, view: ViewFacts, index: readonly number[]): string {
  const terms = index.map((i, axis) => {
    const stride = view.strides[axis] ?? 0;
    return stride < 0 ? ` − ${i}·${-stride}` : ` + ${i}·${stride}`;
  });
  return `${name}[${index.join(", ") || "()"}] is storage[${view.offset}${terms.join("")}] = storage[${positionOf(view, index)}]`;
}

/**
 * Which blocks of a storage a view reads: 1 for each of them.
 *
 * Axes are taken from the least stride to the greatest. If the steps of an axis leave no
 * full block out, it extends one run of elements, else it repeats the runs. So the
 * loop is over runs, of which there are hardly more than blocks, and never over elements.
 */
export function readBlocks({ shape, strides, offset }: ViewFacts, block: number, blocks: number): Uint8Array {
  const found = new Uint8Array(blocks);
  if (shape.some((length) => length === 0)) return found;
  const axes = shape.map((length, axis) => ({ length, stride: strides[axis] ?? 0 })).filter(({ length, stride }) => length > 1 && stride !== 0);
  let first = offset;
  for (const { length, stride } of axes) first += Math.min(stride, 0) * (length - 1);
  axes.sort((a, b) => Math.abs(a.stride) - Math.abs(b.stride));
  let run = 1;
  let starts = new Set([first]);
  for (const { length, stride } of axes) {
    const step = Math.abs(stride);
    if (starts.size === 1 && step < run + block) {
      run += step * (length - 1);
      continue;
    }
    const next = new Set<number>();
    for (const start of starts) for (let i = 0; i < length; i++) next.add(start + i * step);
    starts = next;
  }
  for (const start of starts) {
    const end = Math.min(Math.floor((start + run - 1) / block), blocks - 1);
    for (let at = Math.max(Math.floor(start / block), 0); at <= end; at++) found[at] = 1;
  }
  return found;
}

/** The greatest count of elements whose positions are looked up. */
const MOST_FOUND = 1 << 16;

/** The steps of the order of visit that read each storage position. */
export class Visits {
  readonly #steps = new Map<number, number[]>();
  /** Whether the tensor is small enough to look positions up. */
  readonly isKnown: boolean;

  constructor(view: ViewFacts, size: number) {
    this.isKnown = size <= MOST_FOUND;
    for (let step = 0; this.isKnown && step < size; step++) {
      const position = positionOf(view, indexAt(view.shape, step));
      const known = this.#steps.get(position);
      if (known) known.push(step);
      else this.#steps.set(position, [step]);
    }
  }

  at(position: number): readonly number[] {
    return this.#steps.get(position) ?? [];
  }
}

/** The tensors of a run that share a tensor's storage, without itself. */
export function sharersOf(tensor: TensorRecord, tensors: readonly TensorRecord[]): TensorRecord[] {
  const { storage } = tensor;
  return tensors.filter((other) => storage !== undefined && other.id !== tensor.id && other.storage?.id === storage.id);
}

/** Whether a tensor's storage is its own: it reads all of it, in order, and was named first. */
export function isOwner({ contiguous, offset, size, storage }: TensorRecord): boolean {
  return contiguous && offset === 0 && size === storage?.size;
}

/** One sentence: whether this is a view, or what made its storage. */
export function originOf(tensor: TensorRecord, sharers: readonly TensorRecord[]): string {
  const { storage, id } = tensor;
  if (!storage) return "";
  const line = storage.line === null ? "" : ` in line ${storage.line}`;
  const earlier = sharers.find((other) => other.id < id);
  if (earlier) return `This is a view of ${earlier.name}: nothing was copied.`;
  if (storage.made === "constant") return "A constant: one value stands for all elements, and nothing is stored yet.";
  if (storage.made === "reshape") return `Copied${line}, because no strides express the new shape in the old storage.`;
  if (storage.made === "copy") return line ? `A copy, made${line}.` : "A copy.";
  if (isOwner(tensor)) return "Contiguous, with its own storage.";
  return "A view of a storage that no name reads in full: nothing was copied.";
}

/** What the offset and the strides mean, a sentence for each axis. */
export function stridesInWords({ shape, strides, offset }: ViewFacts): string {
  const sentences = [`Starts at storage[${offset}].`];
  shape.forEach((length, axis) => {
    const stride = strides[axis] ?? 0;
    const step = count(Math.abs(stride), "element");
    if (length < 2) return;
    if (stride === 0) sentences.push(`Axis ${axis} has stride 0: all ${length.toLocaleString("en-US")} indices read the same elements (broadcast).`);
    else if (stride < 0) sentences.push(`A step along axis ${axis} goes back ${step}: it is read in reverse.`);
    else sentences.push(`A step along axis ${axis} goes on ${step}.`);
  });
  return sentences.join(" ");
}

/** `3 of 6 elements · offset 3 · strides (1,)`. */
export function factsOf(view: ViewFacts, read: number, blocks: number, block: number): string {
  const part = `${read === blocks ? "all" : read.toLocaleString("en-US")} of ${count(blocks, block === 1 ? "element" : "block")}`;
  return `${part} · offset ${view.offset} · strides ${tuple(view.strides)}`;
}
