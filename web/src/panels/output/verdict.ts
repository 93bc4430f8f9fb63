/** A puzzle's verdict: expected and actual result side by side, as tables. */

import { el } from "../../parts/dom";
import { tuple } from "../../parts/format";
import { flag, list, orNull, record, text, whole } from "../../page/checks";
import "./verdict.css";

interface Table {
  shape: number[];
  cells: string[][];
  /** Of each cell whether it is wrong; empty where that is not said. */
  wrong: boolean[][];
}

interface Verdict {
  title: string;
  solved: boolean;
  text: string;
  /** The case that is shown. */
  call: string;
  wanted: Table | null;
  got: Table | null;
}

const MOST_CELLS = 12;
const MOST_TEXT = 2000;
const TABLE = record<Table>({
  shape: list(whole(), 64),
  cells: list(list(text(40), MOST_CELLS), MOST_CELLS),
  wrong: list(list(flag, MOST_CELLS), MOST_CELLS),
});
const VERDICT = record<Verdict>({
  ...{ title: text(MOST_TEXT), solved: flag, text: text(MOST_TEXT), call: text(MOST_TEXT) },
  ...{ wanted: orNull(TABLE), got: orNull(TABLE) },
});

/** Draw a verdict; any program can send one, so it is validated first. */
export function verdictView(json: string): HTMLElement {
  const verdict = parsed(json);
  if (!verdict) return el("p", { class: "cut" }, "This result of a puzzle is damaged.");
  const { title, solved, call } = verdict;
  return el(
    "div",
    { role: "group", class: "verdict", "data-solved": String(solved), "aria-label": `Puzzle ${title}` },
    el("p", { class: "verdict-head" }, el("strong", {}, solved ? "Solved" : "Not yet"), ` ${verdict.text}`),
    call ? el("p", { class: "verdict-call" }, el("code", {}, call)) : null,
    el("div", { class: "verdict-sides" }, side("wanted", verdict.wanted), side("got", verdict.got)),
  );
}

function side(name: "wanted" | "got", table: Table | null): HTMLElement {
  const shape = table ? ` ${tuple(table.shape)}` : "";
  const head = el("p", { class: "verdict-name" }, el("strong", {}, name), shape);
  const body = table ? cellsOf(table, name) : el("p", { class: "verdict-none" }, "nothing yet");
  return el("div", { class: `verdict-side verdict-${name}` }, head, body);
}

function cellsOf({ cells, wrong, shape }: Table, name: string): HTMLElement {
  if (cells.every((row) => row.length === 0)) return el("p", { class: "verdict-none" }, "no elements");
  const rows = cells.map((row, place) =>
    el("tr", {}, ...row.map((cell, column) => {
      const isWrong = wrong[place]?.[column] === true;
      return el("td", { class: isWrong ? "wrong" : null }, cell, isWrong ? el("span", { class: "visually-hidden" }, " wrong") : null);
    })),
  );
  const label = `${name}, shape ${tuple(shape)}`;
  return el("table", { class: "verdict-cells", "aria-label": label }, el("tbody", {}, ...rows));
}

function parsed(json: string): Verdict | null {
  try {
    const value = JSON.parse(json) as unknown;
    return VERDICT(value) ? (value as Verdict) : null;
  } catch {
    return null;
  }
}
