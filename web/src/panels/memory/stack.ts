/** Stacks the buffers of a device over the kernels of a run, the longest-lived below. */

import type { DeviceMemory, MemoryBlock, MemoryValue } from "../../page/protocol";

/** A line of a file of the program; null for buffers of no line. */
export interface SourceLine {
  file: string;
  line: number;
}

/** What one line holds at the peak, and its colour: an index of series, or null. */
export interface LineShare {
  source: SourceLine | null;
  bytes: number;
  blocks: number;
  colour: number | null;
}

/** A block between two columns, in bytes from the ground. */
export interface Rect {
  block: number;
  from: number;
  to: number;
  low: number;
  colour: number | null;
  /** Whether the buffer contains nothing that is needed any more. */
  idle: boolean;
}

export interface Stack {
  /** Kernels, and one unit after the last of them. */
  length: number;
  /** For each column, the kernel whose stack it shows: the highest of the column. */
  steps: readonly number[];
  rects: readonly Rect[];
  /** Bytes at the top of the drawing. */
  top: number;
}

/** How many lines have a colour of their own. */
export const COLOURS = 6;

const key = ({ file, line }: SourceLine): string => `${file}:${line}`;

/** The value that a block contains during a kernel, the last one until its release. */
export function valueAt({ values }: MemoryBlock, step: number): MemoryValue | null {
  return values.findLast(({ begin }) => begin <= step) ?? values[0] ?? null;
}

function sourceOf(value: MemoryValue | null): SourceLine | null {
  return value && value.line !== null ? { file: value.file, line: value.line } : null;
}

/** The line of what a block contains during a kernel; scratch has that of the block's values. */
export function sourceAt(block: MemoryBlock, step: number): SourceLine | null {
  return sourceOf(valueAt(block, step)) ?? block.values.map(sourceOf).find(Boolean) ?? null;
}

/** The lines by what they hold at the peak, then the others by their largest buffer. */
export function lineShares(memory: DeviceMemory): LineShare[] {
  const shares = new Map<string, LineShare>();
  const largest = new Map<string, number>();
  const shareOf = (source: SourceLine | null): LineShare => {
    const name = source ? key(source) : "";
    const share = shares.get(name) ?? { source, bytes: 0, blocks: 0, colour: null };
    shares.set(name, share);
    return share;
  };
  for (const index of memory.atPeak) {
    const block = memory.blocks[index];
    if (!block) continue;
    const share = shareOf(sourceAt(block, memory.step));
    share.bytes += block.bytes;
    share.blocks += 1;
  }
  for (const block of memory.blocks) {
    for (const value of block.values) {
      const source = sourceOf(value);
      if (!source) continue;
      shareOf(source);
      largest.set(key(source), Math.max(largest.get(key(source)) ?? 0, block.bytes));
    }
  }
  const size = ({ source }: LineShare): number => (source ? (largest.get(key(source)) ?? 0) : 0);
  const sorted = [...shares.values()].sort((one, other) => other.bytes - one.bytes || size(other) - size(one));
  sorted.filter(({ source }) => source).slice(0, COLOURS).forEach((share, index) => (share.colour = index));
  return sorted;
}

/** The colour of each line, by file and number. */
function colours(shares: readonly LineShare[]): Map<string, number | null> {
  return new Map(shares.map(({ source, colour }) => [source ? key(source) : "", colour]));
}

/** The end of a block on the axis. */
export function endOf({ end }: MemoryBlock, length: number): number {
  return end ?? length;
}

/** The blocks in use during a kernel, from the ground up. */
export function aliveAt(order: readonly number[], blocks: readonly MemoryBlock[], step: number, length: number): number[] {
  return order.filter((index) => {
    const block = blocks[index];
    return block !== undefined && block.begin <= step && step < endOf(block, length);
  });
}

/** The indices of blocks, the longest-lived first. */
export function orderOf(blocks: readonly MemoryBlock[], length: number): number[] {
  const life = blocks.map((block) => endOf(block, length) - block.begin);
  return blocks.map((_, index) => index).sort((one, other) => (life[other] ?? 0) - (life[one] ?? 0) || one - other);
}

/** Bytes in use during each kernel. */
export function totals({ blocks, before }: DeviceMemory, length: number): number[] {
  const change = new Array<number>(length + 1).fill(0);
  for (const block of blocks) {
    const [begin, end] = [block.begin, endOf(block, length)];
    if (begin >= end) continue;
    change[begin] = (change[begin] ?? 0) + block.bytes;
    change[end] = (change[end] ?? 0) - block.bytes;
  }
  let sum = before;
  return change.slice(0, length).map((each) => (sum += each));
}

/** The step of each column: where most bytes are in use. */
function stepsOf(sums: readonly number[], columns: number): number[] {
  return [...Array(columns).keys()].map((column) => {
    const [first, after] = [Math.floor((column * sums.length) / columns), Math.ceil(((column + 1) * sums.length) / columns)];
    let best = first;
    for (let step = first; step < after; step++) if ((sums[step] ?? 0) > (sums[best] ?? 0)) best = step;
    return best;
  });
}

export function stackOf(memory: DeviceMemory, kernels: number, columns: number): Stack {
  const length = kernels + 1;
  const { blocks, before } = memory;
  const order = orderOf(blocks, length);
  const colourOf = colours(lineShares(memory));
  const sums = totals(memory, length);
  const steps = stepsOf(sums, columns);
  const rects: Rect[] = [];
  const open = new Map<number, Rect>();
  steps.forEach((step, column) => {
    let low = before;
    for (const index of aliveAt(order, blocks, step, length)) {
      const block = blocks[index];
      if (!block) continue;
      const source = sourceAt(block, step);
      const colour = source ? (colourOf.get(key(source)) ?? null) : null;
      const value = valueAt(block, step);
      const idle = block.use === "flush" && value !== null && (step < value.begin || (block.isInner && step >= value.end));
      const last = open.get(index);
      if (last && last.to === column && last.low === low && last.colour === colour && last.idle === idle) last.to = column + 1;
      else {
        const rect = { block: index, from: column, to: column + 1, low, colour, idle };
        open.set(index, rect);
        rects.push(rect);
      }
      low += block.bytes;
    }
  });
  return { length, steps, rects, top: Math.max(memory.peak, ...sums, 1) };
}
