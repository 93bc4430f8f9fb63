/** The origin of the first NaN or infinity: one sentence with links to the lines, or the offer to search. */

import type { Page } from "../page/page";
import type { NonfiniteOrigin, NonfiniteSearch, TensorRecord } from "../page/protocol";
import { MAIN } from "../page/program";
import { messageOf } from "../page/session";
import { button, el } from "./dom";
import { lineLink, type RunLine } from "./line-link";
import "./nonfinite.css";

/** A piece of the sentence: words, code, or a line. */
type Piece = string | { code: string } | RunLine;

const WORDS = { nan: "NaN", inf: "infinity" } as const;

/** The sentence as plain text, for the tooltip of a badge. */
export function originText(origins: readonly NonfiniteOrigin[]): string {
  const text = (piece: Piece): string => {
    if (typeof piece === "string") return piece;
    if ("code" in piece) return piece.code;
    return piece.file === MAIN ? `line ${piece.line}` : `${piece.file}, line ${piece.line}`;
  };
  return piecesOf(origins).map(text).join("");
}

/** The sentence about a tensor, or the button that searches for the line; null if all values are finite. */
export function originLine(page: Page, tensor: TensorRecord): HTMLElement | null {
  const { nan = 0, inf = 0, origins } = tensor;
  if (nan + inf === 0) return null;
  if (origins === undefined) return offer(page, `Where is the first ${nan > 0 ? "NaN" : "infinity"} made?`);
  if (origins.length === 0) return paragraph(notFound(page.view.run?.search));
  // Data has no operands; of a kernel it is not known which operation it was.
  const isMade = origins.some(({ op }) => op !== "" && !GIVEN[op]);
  return paragraph(...nodesOf(page, origins), ...(isMade ? [" ", operandsOf(page, tensor, nan > 0 ? "nan" : "inf")] : []));
}

/** A button that shows the first cell that is not finite, and its operands with their indices and values. */
function operandsOf(page: Page, { id, name }: TensorRecord, what: "nan" | "inf"): HTMLElement {
  const show = async (): Promise<void> => {
    const { index } = await page.request("find", { tensor: id, what });
    if (index) page.why({ name, index, isOdd: true });
  };
  const ask = (): void => void show().catch((error: unknown) => page.warn(messageOf(error)));
  return button("Its operands", ask, { class: "quiet", title: "Run the program once more, and show the operands with their indices and values" });
}

/** The sentence about printed numbers; `kind` is what the output shows, null without any. */
export function printedLine(page: Page, search: NonfiniteSearch | undefined, kind: "nan" | "inf" | null): HTMLElement | null {
  if (search?.origins.length) return paragraph(...nodesOf(page, search.origins));
  if (kind === null) return null;
  if (!search) return offer(page, `Where is the first ${WORDS[kind]} made?`);
  return paragraph(search.complete ? "No tensor that the program reads holds NaN or infinity." : notFound(search));
}

function notFound(search: NonfiniteSearch | undefined): string {
  if (search?.complete === false) return "The line was not found: in this browser Python cannot wait for WebGPU. Run on the CPU to find it.";
  return "The line that made it was not found.";
}

function offer(page: Page, question: string): HTMLElement {
  const look = button("Find the line", () => page.run(null, { search: true }), {
    class: "quiet",
    title: "Run the program once more, and look at the values of every step",
  });
  return paragraph(`${question} `, look);
}

function paragraph(...children: (Node | string)[]): HTMLElement {
  return el("p", { class: "nonfinite" }, ...children);
}

function nodesOf(page: Page, origins: readonly NonfiniteOrigin[]): (Node | string)[] {
  return piecesOf(origins).map((piece) => {
    if (typeof piece === "string") return piece;
    return "code" in piece ? el("code", {}, piece.code) : lineLink(page, piece);
  });
}

function piecesOf([first, ...causes]: readonly NonfiniteOrigin[]): Piece[] {
  if (!first) return [];
  const pieces: Piece[] = [`The first ${WORDS[first.kind]} is `, ...madeAt(first)];
  for (const cause of causes) pieces.push(`; its inputs hold ${WORDS[cause.kind]}, first `, ...madeAt(cause));
  const last = causes.at(-1) ?? first;
  if (last.op && !GIVEN[last.op]) pieces.push(causes.length ? " of finite inputs" : ", its inputs are finite");
  return [...pieces, "."];
}

/** Descriptions of origins that are no operation: data, and literals of the program. */
const GIVEN: Readonly<Record<string, string>> = { leaf: "in the data of ", constant: "written at " };

function madeAt({ op, lines, file }: NonfiniteOrigin): Piece[] {
  const links = lines.flatMap((line, index): Piece[] => [...(index ? [index === lines.length - 1 ? " or " : ", "] : []), { line, file }]);
  const where = links.length ? links : ["code outside of the program"];
  const given = GIVEN[op];
  if (given) return [given, ...where];
  return op ? ["made at ", ...where, ": ", { code: op }] : ["made at ", ...where, ", which one kernel computes"];
}
