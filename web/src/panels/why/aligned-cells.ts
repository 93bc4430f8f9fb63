/** Which cells of operands a cell of a result reads, and the windows in which they are drawn. */

import type { Alignment } from "../../page/protocol";

/** Cells along each side of a window. */
export const SIDE = 6;

/** The index of a cell that is counted row by row. */
export function unravel(position: number, shape: readonly number[]): number[] {
  const index: number[] = [];
  let left = position;
  for (const length of [...shape].reverse()) {
    index.unshift(left % length);
    left = Math.floor(left / length);
  }
  return index;
}

/** The position of a cell, counted row by row. */
export function ravel(index: readonly number[], shape: readonly number[]): number {
  return index.reduce((position, at, axis) => position * (shape[axis] ?? 1) + at, 0);
}

/** The cell of an operand that is repeated to a cell of the broadcast shape. */
export function originOf(index: readonly number[], shape: readonly number[]): number[] {
  return index.slice(index.length - shape.length).map((at, axis) => (shape[axis] === 1 ? 0 : at));
}

/** The axes of the broadcast shape along which an operand is repeated. */
export function repeatedAxes(shape: readonly number[], to: readonly number[]): number[] {
  const missing = to.length - shape.length;
  return [...to.keys()].filter((axis) => to[axis] !== (axis < missing ? 1 : shape[axis - missing]));
}

/** The first row or column of the window that shows one. */
export function startOf(at: number): number {
  return at - (at % SIDE);
}

/** The cells of the operands and of the result that belong to one cell, and in a product to one term. */
export function cellsAt({ rule }: Pick<Alignment, "rule">, index: readonly number[], term: number): { operands: number[][]; result: number[] } {
  const result = [...index];
  if (rule === "broadcast") return { operands: [result, result, result], result };
  const [row = 0, column = 0] = index.slice(-2);
  const stack = index.slice(0, -2);
  return { operands: [[...stack, row, term], [...stack, term, column]], result };
}

/** The cell of an operand as the program would index it, which a product reads as one of a stack of matrices. */
export function writtenCell(index: readonly number[], shape: readonly number[], side: number): number[] {
  if (shape.length === 1) return index.slice(side === 0 ? -1 : -2).slice(0, 1);
  return originOf(index, [...shape.slice(0, -2), 0, 0]);
}
