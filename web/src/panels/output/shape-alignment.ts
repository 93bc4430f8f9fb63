/** How a rule aligns shapes: a box for each length, in columns, and the columns that do not fit. */

import { tuple } from "../../parts/format";
import type { Failure } from "../../page/protocol";

type Clash = NonNullable<Failure["clash"]>;

/** A length in a column; `implied` for a length of 1 that the shape does not have. */
export interface Box {
  kind: "none" | "implied" | "joined" | "wrong" | "fits";
  length: number;
}

export interface Aligned {
  /** For each operand the boxes of all columns. */
  rows: Box[][];
  verdicts: ("wrong" | "fits")[];
}

const NONE: Box = { kind: "none", length: 0 };

/** Align the shapes of a clash in columns. */
export function aligned(clash: Pick<Clash, "rule" | "operands" | "joined">): Aligned {
  const rows = columnsOf(clash);
  const width = Math.max(0, ...rows.map((row) => row.length));
  const verdicts = [...Array(width).keys()].map((column) => (isWrong(clash, rows, column) ? "wrong" : "fits") as "wrong" | "fits");
  const mark = (box: Box | undefined, column: number): Box => {
    if (!box || box.kind === "none") return NONE;
    const isMarked = verdicts[column] === "wrong" && (box.length !== 1 || !clash.rule.startsWith("broadcast"));
    return isMarked && box.kind !== "implied" ? { ...box, kind: "wrong" } : box;
  };
  return { rows: rows.map((row) => [...Array(width).keys()].map((column) => mark(row[column], column))), verdicts };
}

function columnsOf({ rule, operands, joined }: Pick<Clash, "rule" | "operands" | "joined">): Box[][] {
  const shapes = operands.map(({ shape }) => shape);
  const most = Math.max(0, ...shapes.map((shape) => shape.length));
  const fits = (length: number): Box => ({ kind: "fits", length });
  switch (rule) {
    case "broadcast":
    case "broadcast_to":
      return shapes.map((shape) => [...Array<Box>(most - shape.length).fill({ kind: "implied", length: 1 }), ...shape.map(fits)]);
    case "matmul": {
      // Columns: the axes of the stack, rows of the first, the inner axis, columns of the second.
      const stacks = shapes.map((shape) => shape.slice(0, -2));
      const deep = Math.max(0, ...stacks.map((stack) => stack.length));
      return shapes.map((shape, at) => {
        const stack = shape.slice(0, -2);
        // A product has the rows of the first one and the columns of the second one.
        if (at === 2) return resultBoxes(shape, shapes, deep);
        const left: Box[] = [...Array<Box>(deep - stack.length).fill(NONE), ...stack.map(fits)];
        const [outer, inner] = at === 0 ? [shape.at(-2), shape.at(-1)] : [shape.length > 1 ? shape.at(-1) : undefined, shape.at(shape.length > 1 ? -2 : -1)];
        const [side, middle] = [outer === undefined ? NONE : fits(outer), inner === undefined ? NONE : fits(inner)];
        return at === 0 ? [...left, side, middle, NONE] : [...left, NONE, middle, side];
      });
    }
    case "reshape":
      return shapes.map((shape) => shape.map(fits));
    case "aligned":
    case "expected":
    case "window":
    case "index":
      return operands.map(({ shape, columns }) => {
        const row: Box[] = [];
        shape.forEach((length, axis) => (row[columns?.[axis] ?? axis] = fits(length)));
        return Array.from(row, (box?: Box) => box ?? NONE);
      });
    case "concat":
      return shapes.map((shape) => shape.map((length, axis): Box => ({ kind: axis === joined ? "joined" : "fits", length })));
  }
}

function resultBoxes(shape: readonly number[], [first = [], second = []]: readonly (readonly number[])[], deep: number): Box[] {
  const lengths = [...shape].reverse();
  const side = (operand: readonly number[]): Box => (operand.length > 1 ? { kind: "fits", length: lengths.shift() ?? 0 } : NONE);
  const [columns, rows] = [side(second), side(first)];
  const stack = lengths.reverse().map((length): Box => ({ kind: "fits", length }));
  return [...Array<Box>(deep - stack.length).fill(NONE), ...stack, rows, NONE, columns];
}

/** Whether the lengths of a column do not fit. */
function isWrong({ rule, operands }: Pick<Clash, "rule" | "operands">, rows: Box[][], column: number): boolean {
  const boxes = rows.map((row) => row[column] ?? NONE);
  const lengths = boxes.filter(({ kind }) => kind === "fits").map(({ length }) => length);
  if (rule === "reshape") return false;
  if (["aligned", "expected", "window", "index"].includes(rule)) return operands.some(({ axis, columns }) => axis !== null && columns?.[axis] === column);
  if (rule === "concat") return boxes.some(({ kind }) => kind === "none") || new Set(lengths).size > 1;
  if (rule === "broadcast_to") {
    const [first, second] = boxes;
    return first?.kind === "fits" && first.length !== 1 && first.length !== second?.length;
  }
  const isInner = rule === "matmul" && column === rowLength(rows) - 2;
  return new Set(isInner ? lengths : lengths.filter((length) => length !== 1)).size > 1;
}

function rowLength(rows: Box[][]): number {
  return Math.max(0, ...rows.map((row) => row.length));
}

/** What stands for an operand that has no name in the program. */
const NAMES: Partial<Record<Clash["rule"], readonly [string, string]>> = {
  expected: ["input", "expected"],
  reshape: ["", "new shape"],
  window: ["input", "one window"],
  index: ["index", "indexed"],
};

/** What stands before the boxes of a row. */
export function nameOf({ rule, operands }: Pick<Clash, "rule" | "operands">, at: number): string {
  const text = operands[at]?.text ?? "";
  if (text) return text;
  return NAMES[rule]?.[at] ?? "";
}

/** The shape of an operand as a tuple; where a shape is expected, -1 is any length. */
export function shapeText({ rule, operands }: Pick<Clash, "rule" | "operands">, at: number): string {
  const shape = operands[at]?.shape ?? [];
  if (rule === "index" && at === 0) return String(shape[0]);
  return rule === "expected" ? tuple(shape).replaceAll("-1", "any") : tuple(shape);
}

/** The picture in words. */
export function summaryOf(clash: Pick<Clash, "rule" | "operands" | "joined">): string {
  const names = clash.operands.map((_, at) => `${nameOf(clash, at) || "shape"} ${shapeText(clash, at)}`);
  const { rows, verdicts } = aligned(clash);
  const pairs = verdicts.flatMap((verdict, column) => {
    const lengths = rows.map((row) => row[column]).flatMap((box) => (box?.kind === "wrong" ? [box.length] : []));
    return verdict === "wrong" && lengths.length > 0 ? [lengths.join(" and ")] : [];
  });
  return `${names.join(", ")}${pairs.length > 0 ? `; lengths that do not fit: ${pairs.join("; ")}` : ""}`;
}
