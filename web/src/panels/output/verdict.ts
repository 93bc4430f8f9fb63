/** A puzzle's verdict: expected and actual result side by side, as tables. */

import { el } from "../../parts/dom";
import { tuple } from "../../parts/format";
import { count, flag, list, orNull, record, text, type Checked } from "../../page/checks";
import { isThreads, type Threads } from "../../page/protocol";
import "./verdict.css";

const MOST_CELLS = 12;
const MOST_TEXT = 2000;
const isTable = record({
  shape: list(count(), 64),
  cells: list(list(text(40), MOST_CELLS), MOST_CELLS),
  /** Whether each cell is wrong; empty if cells are not compared. */
  wrong: list(list(flag, MOST_CELLS), MOST_CELLS),
});
const isVerdict = record({
  title: text(MOST_TEXT),
  solved: flag,
  text: text(MOST_TEXT),
  /** The test case that is shown. */
  call: text(MOST_TEXT),
  expected: orNull(isTable),
  got: orNull(isTable),
  threads: orNull(isThreads),
});

type Table = Checked<typeof isTable>;
type Verdict = Checked<typeof isVerdict>;

/** Draw a verdict; any program can send one, so it is validated first. `draw` makes the picture of a kernel's threads. */
export function verdictView(json: string, draw?: (threads: Threads) => Promise<HTMLElement>): HTMLElement {
  const verdict = parsed(json);
  if (!verdict) return el("p", { class: "cut" }, "This result of a puzzle is damaged.");
  const { title, solved, call } = verdict;
  return el(
    "div",
    { role: "group", class: "verdict", "data-solved": String(solved), "aria-label": `Puzzle ${title}` },
    el("p", { class: "verdict-head" }, el("strong", {}, solved ? "Solved" : "Not yet"), ` ${verdict.text}`),
    call ? el("p", { class: "verdict-call" }, el("code", {}, call)) : null,
    el("div", { class: "verdict-sides" }, side("expected", verdict.expected), side("got", verdict.got)),
    verdict.threads && draw ? threadsOf(verdict.threads, draw) : null,
  );
}

function threadsOf(threads: Threads, draw: (threads: Threads) => Promise<HTMLElement>): HTMLElement {
  const details = el("details", {}, el("summary", {}, "Threads"));
  const open = async (): Promise<void> => details.append(await draw(threads));
  details.addEventListener("toggle", () => void open(), { once: true });
  return details;
}

function side(name: "expected" | "got", table: Table | null): HTMLElement {
  const shape = table ? ` ${tuple(table.shape)}` : "";
  const head = el("p", { class: "verdict-name" }, el("strong", {}, name), shape);
  const body = table ? cellsOf(table, name) : el("p", { class: "verdict-none" }, "nothing yet");
  return el("div", { class: `verdict-side verdict-${name}` }, head, body);
}

function cellsOf({ cells, wrong, shape }: Table, name: string): HTMLElement {
  if (cells.every((row) => row.length === 0)) return el("p", { class: "verdict-none" }, "no elements");
  const rows = cells.map((row, index) =>
    el("tr", {}, ...row.map((cell, column) => {
      const isWrong = wrong[index]?.[column] === true;
      return el("td", { class: isWrong ? "wrong" : null }, cell, isWrong ? el("span", { class: "visually-hidden" }, " wrong") : null);
    })),
  );
  const label = `${name}, shape ${tuple(shape)}`;
  return el("table", { class: "verdict-cells", "aria-label": label }, el("tbody", {}, ...rows));
}

function parsed(json: string): Verdict | null {
  try {
    const value = JSON.parse(json) as unknown;
    return isVerdict(value) ? value : null;
  } catch {
    return null;
  }
}
