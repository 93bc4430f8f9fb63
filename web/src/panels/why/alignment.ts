/** How the operands of an operation align: their shapes, windows of their cells, and the arithmetic of one cell of the result after another. */

import { el } from "../../parts/dom";
import { short, tuple } from "../../parts/format";
import type { Page } from "../../page/page";
import type { Alignment, Cells, TensorRecord } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { pictureOf } from "../output/shape-picture";
import { mountSlider } from "../tensors/slider";
import { cellsAt, originOf, ravel, repeatedAxes, SIDE, startOf, unravel, writtenCell } from "./aligned-cells";
import { cellName } from "./cell-name";
import "./alignment.css";

const RULES: Record<Alignment["rule"], string> = {
  broadcast: "Shapes are aligned at the right. An axis of length 1, or one that is missing, is repeated: with stride 0 its cells are read again, not copied.",
  matmul: "Each cell of the result is the sum of a row of the first operand times a column of the second one.",
};

const KEYS: Readonly<Record<string, readonly [number, number]>> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Show the operands of an operation, beginning with one cell of its result. */
export function mountAlignment(page: Page, found: Alignment, first: readonly number[]): HTMLElement {
  const { rule, result, operands } = found;
  const isProduct = rule === "matmul";
  const depth = isProduct ? (operands[0]?.repeated.shape.at(-1) ?? 0) : 0;
  const whole = resultShape(found);
  const named = operands.map(({ tensor }) => ({ text: nameOf(tensor), shape: tensor.shape, axis: null }));
  const shapes = pictureOf({ rule, operands: [...named, { text: "result", shape: whole, axis: null }], joined: null });
  const text = el("p", { class: "aligned-sum", role: "status" });
  const terms = el("table", { class: "aligned-terms" });
  let index = [...first];
  let term = 0;
  let before = "0";
  const known = new Map<string, Promise<string>>();
  /** The sum of the terms before the window of the current one. */
  const sumBefore = (): Promise<string> => {
    const end = startOf(term);
    if (end === 0) return Promise.resolve("0");
    const key = [...index, end].join();
    const sum = known.get(key) ?? page.request("partial_sum", { tensor: result.id, index, depth: end }).then(({ value }) => value);
    known.set(key, sum);
    return sum;
  };
  const grids = operands.map(({ tensor, repeated }, at) => mountGrid(page, repeated, headOf(found, at), markOf(found, tensor.shape, at)));
  const made = mountGrid(page, result, [el("code", {}, "result"), ` ${tuple(whole)}`], (at, now) => (same(at, now) ? "is-lit" : ""));
  const draw = (): void => {
    const cells = cellsAt(found, index, term);
    const values = cells.operands.slice(0, operands.length).map((cell, at) => grids[at]?.text(cell) ?? "");
    const value = made.text(index);
    if (!isProduct) {
      const names = operands.map(({ tensor }) => cellName(tensor, originOf(index, tensor.shape)));
      text.textContent = `${joined(found, names)} = ${joined(found, values)} = ${value}`;
      return;
    }
    text.textContent = depth === 0 ? "There are no terms: an empty sum is 0." : `The sum of ${term + 1} of ${depth} terms${term + 1 === depth ? `; the run computed ${value}` : ""}.`;
    terms.replaceChildren(...termRows());
  };
  /** The terms of the window up to the current one, with their running sum. */
  const termRows = (): HTMLElement[] => {
    const [left, right] = grids;
    const [a, b] = operands;
    if (!left || !right || !a || !b || depth === 0) return [];
    let sum = Number(before);
    const rows = [...Array(term - startOf(term) + 1).keys()].map((one) => {
      const cells = cellsAt(found, index, startOf(term) + one).operands;
      const [x = "", y = ""] = [left.text(cells[0] ?? []), right.text(cells[1] ?? [])];
      const names = [a, b].map(({ tensor }, side) => cellName(tensor, writtenCell(cells[side] ?? [], tensor.shape, side)));
      sum += Number(x) * Number(y);
      const texts = [names.join(" · "), `${x} · ${y}`, short(Number(x) * Number(y)), short(sum)];
      return el("tr", { class: startOf(term) + one === term ? "is-lit" : null }, ...texts.map((each) => el("td", {}, each)));
    });
    const earlier = startOf(term) > 0 ? [el("tr", {}, ...[`terms 0 to ${startOf(term) - 1}`, "", "", short(Number(before))].map((each) => el("td", {}, each)))] : [];
    const head = el("tr", {}, ...["term", "values", "product", "sum so far"].map((each) => el("th", { scope: "col" }, each)));
    return [head, ...earlier, ...rows];
  };
  let generation = 0;
  const show = async (): Promise<void> => {
    const mine = ++generation;
    const cells = cellsAt(found, index, term);
    try {
      const [sum] = await Promise.all([isProduct ? sumBefore() : "0", made.show(cells.result), ...grids.map((grid, at) => grid.show(cells.operands[at] ?? []))]);
      if (mine !== generation) return;
      before = sum;
      draw();
    } catch (error) {
      if (mine === generation) text.textContent = messageOf(error);
    }
  };
  const cellSlider = mountSlider("cell", "Cell of the result", (position) => {
    index = unravel(position, result.shape);
    return show();
  });
  const termSlider = mountSlider("k", "Term of the sum", (to) => {
    term = to;
    return show();
  });
  const go = (to: readonly number[]): void => {
    if (to.some((at, axis) => at < 0 || at >= (result.shape[axis] ?? 0))) return;
    index = [...to];
    cellSlider.set(ravel(index, result.shape), result.size);
    void show();
  };
  made.choose(go);
  cellSlider.set(ravel(index, result.shape), result.size);
  termSlider.set(0, depth);
  cellSlider.dom.hidden = result.size < 2;
  termSlider.dom.hidden = depth < 2;
  const title = el("h3", { tabindex: -1 }, `${joined(found, operands.map(({ tensor }) => tuple(tensor.shape)))} → ${tuple(whole)}`);
  const head = [title, el("p", { class: "why-note" }, RULES[rule]), shapes];
  if (result.size === 0) return el("div", { class: "aligned" }, ...head, el("p", {}, "The result has no cells."));
  void show();
  const pictures = el("div", { class: "aligned-grids" }, ...grids.map(({ dom }) => dom), made.dom);
  return el("div", { class: "aligned" }, ...head, cellSlider.dom, termSlider.dom, text, pictures, isProduct ? el("div", { class: "aligned-scroll" }, terms) : null);
}

/** The class of a cell of a grid while another one is the current one. */
type Mark = (at: readonly number[], now: readonly number[]) => string;

interface Grid {
  dom: HTMLElement;
  /** Show the window of a cell, once its values have arrived. */
  show(index: readonly number[]): Promise<void>;
  /** The value of a cell of the window. */
  text(index: readonly number[]): string;
  /** Let the reader choose a cell with a click or with arrow keys. */
  choose(go: (index: readonly number[]) => void): void;
}

/** A window of the last two axes of a tensor, with the numbers of rows and columns. */
function mountGrid(page: Page, record: TensorRecord, head: (Node | string)[], mark: Mark): Grid {
  const { id, shape } = record;
  const columns = shape.length > 0 ? shape.length - 1 : null;
  const rows = shape.length > 1 ? shape.length - 2 : null;
  const table = el("table", { "aria-hidden": true });
  const where = el("p", { class: "why-note" });
  const picture = el("div", { class: "aligned-scroll", tabindex: 0, role: "group", "aria-label": `Cells of ${nameOf(record)}` }, table);
  const dom = el("section", { class: "aligned-grid" }, el("h4", {}, ...head), picture, where);
  let now: readonly number[] = [];
  let cells: Cells | null = null;
  let key = "";
  const at = (axis: number | null, of: readonly number[]): number => (axis === null ? 0 : (of[axis] ?? 0));
  const indexOf = (row: number, column: number): number[] => now.map((one, axis) => (axis === rows ? row : axis === columns ? column : one));
  const draw = (): void => {
    if (!cells) return;
    const { row: top, column: left, texts } = cells;
    const numbers = (texts[0] ?? []).map((_, column) => numberOf(columns === null ? null : left + column));
    const lines = texts.map((line, row) =>
      el("tr", {}, numberOf(rows === null ? null : top + row), ...line.map((value, column) => {
        const index = indexOf(top + row, left + column);
        return el("td", { class: mark(index, now), title: value, "data-index": index.join() }, brief(value));
      })),
    );
    table.replaceChildren(el("tr", {}, numberOf(null), ...numbers), ...lines);
    where.textContent = windowText(shape, rows, columns, cells, now);
  };
  return {
    dom,
    show: async (index) => {
      now = index;
      const window: [number, number, number, number] = [startOf(at(rows, index)), startOf(at(columns, index)), SIDE, SIDE];
      const fixed = index.map((one, axis) => (axis === rows || axis === columns ? 0 : one));
      const next = [...window, ...fixed].join();
      if (next !== key) {
        const found = record.size > 0 ? await page.request("cells", { tensor: id, rows, columns, indices: fixed, window }) : null;
        if (now !== index) return;
        [cells, key] = [found, next];
      }
      draw();
    },
    text: (index) => brief(cells?.texts[at(rows, index) - cells.row]?.[at(columns, index) - cells.column] ?? ""),
    choose: (go) => {
      picture.setAttribute("role", "application");
      picture.setAttribute("aria-label", "Cells of the result; arrow keys choose one");
      table.addEventListener("click", ({ target }) => {
        const cell = target instanceof HTMLElement ? target.dataset["index"] : undefined;
        if (cell !== undefined) go(cell === "" ? [] : cell.split(",").map(Number));
      });
      picture.addEventListener("keydown", (event) => {
        const step = KEYS[event.key];
        if (!step) return;
        event.preventDefault();
        go(now.map((one, axis) => one + (axis === rows ? step[0] : axis === columns ? step[1] : 0)));
      });
    },
  };
}

/** The number of a row or column. */
function numberOf(at: number | null): HTMLElement {
  return el("td", { class: "aligned-number" }, at === null ? "" : String(at));
}

/** Which part of a tensor a window shows, where it is not all of it. */
function windowText(shape: readonly number[], rows: number | null, columns: number | null, { row, column, texts }: Cells, index: readonly number[]): string {
  const [down, across] = [texts.length, texts[0]?.length ?? 0];
  const part = (what: string, axis: number | null, start: number, some: number): string[] => (axis === null || shape[axis] === some ? [] : [`${what} ${start} to ${start + some - 1} of ${shape[axis] ?? 0}`]);
  const fixed = index.flatMap((at, axis) => (axis === rows || axis === columns ? [] : [`axis ${axis} at ${at}`]));
  return [...fixed, ...part("rows", rows, row, down), ...part("columns", columns, column, across)].join(", ");
}

/** What an operand is, and how it is read. */
function headOf(found: Alignment, at: number): (Node | string)[] {
  const operand = found.operands[at];
  if (!operand) return [];
  const { tensor, repeated } = operand;
  const to = repeated.shape;
  // Products give vectors a second axis, which is not repeated.
  const axes = tensor.shape.length === 1 && found.rule === "matmul" ? [] : repeatedAxes(tensor.shape, to);
  const along = `${axes.length > 1 ? "axes" : "axis"} ${axes.join(", ")}`;
  const how = axes.length > 0 ? `, repeated along ${along}: strides ${tuple(repeated.strides)}` : "";
  return [el("code", {}, nameOf(tensor)), ` ${tuple(tensor.shape)}${how}`];
}

/** How the cells of an operand are drawn. */
function markOf({ rule }: Alignment, shape: readonly number[], side: number): Mark {
  if (rule === "matmul") {
    const axis = side === 0 ? -2 : -1;
    return (at, now) => (same(at, now) ? "is-lit" : at.at(axis) === now.at(axis) ? "is-read" : "");
  }
  return (at, now) => {
    const isRepeat = !same(originOf(at, shape), at.slice(at.length - shape.length)) || at.slice(0, at.length - shape.length).some((one) => one > 0);
    const isSame = same(originOf(at, shape), originOf(now, shape));
    return [isRepeat ? "is-repeat" : "", same(at, now) ? "is-lit" : isSame ? "is-read" : ""].filter(Boolean).join(" ");
  };
}

/** The shape of the result in the program; products of vectors lack its rows or columns. */
function resultShape({ rule, result, operands }: Alignment): number[] {
  if (rule === "broadcast") return result.shape;
  const [isRow, isColumn] = operands.map(({ tensor }) => tensor.shape.length === 1);
  const [rows = 0, columns = 0] = result.shape.slice(-2);
  return [...result.shape.slice(0, -2), ...(isRow ? [] : [rows]), ...(isColumn ? [] : [columns])];
}

function joined({ infix, op }: Alignment, texts: readonly string[]): string {
  return infix ? texts.join(infix) : `${op}(${texts.join(", ")})`;
}

function nameOf({ names, name }: TensorRecord): string {
  return names[0] ?? name;
}

/** A number in four digits; other values as they are. */
function brief(value: string): string {
  return value === "" || Number.isNaN(Number(value)) ? value : short(Number(value));
}

function same(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((at, axis) => at === other[axis]);
}
