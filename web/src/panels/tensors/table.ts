/** Exact values as a table: all of a small slice, one page of a large one. */

import { button, el } from "../../parts/dom";
import type { Slice } from "../../page/messages";
import type { Cells } from "../../page/protocol";
import type { Page } from "../../page/page";
import { latestOnly } from "./latest-only";

export interface TableView {
  dom: HTMLElement;
  show(slice: Slice, rows: number, columns: number): Promise<void>;
  /** Mark an element of the slice that is shown next, and show its page. */
  expect(row: number, column: number): void;
  clear(): void;
}

const PAGE_ROWS = 50;
const PAGE_COLUMNS = 20;

export function mountTable(page: Page): TableView {
  const content = el("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Values" });
  const pager = el("div", { class: "pager" });
  const dom = el("div", { class: "values", hidden: true }, pager, content);
  const windows = latestOnly(page, "cells");
  let now: { slice: Slice; rows: number; columns: number } | null = null;
  let first = { row: 0, column: 0 };
  let target: { row: number; column: number } | null = null;

  const load = async (): Promise<void> => {
    if (!now) return;
    const { slice, rows, columns } = now;
    const window: [number, number, number, number] = [first.row, first.column, PAGE_ROWS, PAGE_COLUMNS];
    const requested = now;
    const cells = await windows.request({ ...slice, window });
    if (!cells || requested !== now) return;
    content.replaceChildren(grid(cells));
    if (target) reveal(content, target.row - cells.row, target.column - cells.column);
    target = null;
    pager.replaceChildren(...moves("row", PAGE_ROWS, rows), ...moves("column", PAGE_COLUMNS, columns));
  };
  const moves = (which: "row" | "column", most: number, length: number): HTMLElement[] => {
    if (length <= most) return [];
    const at = first[which];
    const go = (label: string, to: number, off: boolean): HTMLElement => {
      const move = (): void => {
        first = { ...first, [which]: Math.max(0, to) };
        void load();
      };
      return button(label, move, { class: "quiet", disabled: off });
    };
    const last = Math.min(at + most, length) - 1;
    return [
      go(`Earlier ${which}s`, at - most, at === 0),
      el("span", {}, `${which}s ${at}–${last} of ${length}`),
      go(`Later ${which}s`, at + most, at + most >= length),
    ];
  };
  return {
    dom,
    show: async (slice, rows, columns) => {
      const sameShape = now?.rows === rows && now.columns === columns;
      if (target) first = { row: pageOf(target.row, PAGE_ROWS), column: pageOf(target.column, PAGE_COLUMNS) };
      else if (!sameShape) first = { row: 0, column: 0 };
      now = { slice, rows, columns };
      await load();
    },
    expect: (row, column) => {
      target = { row, column };
    },
    clear: () => {
      now = null;
      target = null;
      first = { row: 0, column: 0 };
      content.replaceChildren();
      pager.replaceChildren();
    },
  };
}

/** The first index of the page that contains an index. */
function pageOf(index: number, length: number): number {
  return Math.floor(index / length) * length;
}

/** Mark a cell of the table, and scroll it clear of the sticky headers. */
function reveal(content: HTMLElement, row: number, column: number): void {
  const table = content.querySelector("table");
  const cell = table?.tBodies[0]?.rows[row]?.cells[column + 1];
  const head = table?.tHead?.rows[0]?.cells[0];
  if (!cell || !head) return;
  cell.classList.add("found");
  cell.setAttribute("aria-current", "true");
  content.scrollTop = cell.offsetTop - head.offsetHeight - (content.clientHeight - head.offsetHeight - cell.offsetHeight) / 2;
  content.scrollLeft = cell.offsetLeft - head.offsetWidth - (content.clientWidth - head.offsetWidth - cell.offsetWidth) / 2;
  content.focus({ preventScroll: true });
}

function grid({ row, column, texts }: Cells): HTMLTableElement {
  const across = texts[0]?.map((_, index) => el("th", { scope: "col" }, String(column + index))) ?? [];
  const head = el("tr", {}, el("td"), ...across);
  const rows = texts.map((line, index) =>
    el("tr", {}, el("th", { scope: "row" }, String(row + index)), ...line.map((text) => el("td", {}, text))),
  );
  return el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows));
}
