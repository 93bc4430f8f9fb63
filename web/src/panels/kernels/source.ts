/** The text of a kernel, whose lines, the buffers and the program light each other. */

import { el } from "../../parts/dom";
import { bytes } from "../../parts/format";
import { lineLink, presentLine } from "../../parts/line-link";
import type { Page } from "../../page/page";
import { MAIN, filesOf, type ProgramFile } from "../../page/program";
import type { KernelBuffer, KernelLine, KernelSource, Span } from "../../page/protocol";

const CLASSES = ["tok-comment", "tok-number", "tok-meta", "tok-keyword", "tok-typeName"];

/** By language: a pattern whose groups are the token classes of `CLASSES`, in order. */
const LANGUAGES: Readonly<Record<string, RegExp>> = {
  wgsl: /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|\b(0x[\da-fA-F]+[iu]?|\d[\d.]*(?:e[+-]?\d+)?[fhiu]?)\b|(@\w+)|\b(fn|let|var|const|override|struct|return|if|else|for|while|loop|break|continue|switch|case|default|enable|alias|true|false)\b|\b(f32|f16|i32|u32|bool|array|atomic|vec[234][fiuh]?|mat\dx\d[fh]?|ptr)\b/g,
  wasm: /(\(;[\s\S]*?;\)|;;[^\n]*)|(?<![\w.$])([+-]?(?:0x[\da-fA-F.]+(?:p[+-]?\d+)?|\d[\d.]*(?:e[+-]?\d+)?|inf|nan(?::0x[\da-fA-F]+)?))(?![\w.])|(\$[\w.]+|"[^"\n]*")|\b(module|import|export|memory|func|param|result|local(?![.])|block|loop|if|else|end|br_if|br|return|call|select|unreachable|drop)\b|\b([if](?:32|64)|v128|[if](?:8x16|16x8|32x4|64x2))\b/g,
};

/** Return the source as text and coloured spans, in order. */
function coloured(source: string, language: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let end = 0;
  for (const match of source.matchAll(LANGUAGES[language] ?? /$^/g)) {
    nodes.push(source.slice(end, match.index));
    const kind = match.slice(1).findIndex((group) => group !== undefined);
    const span = document.createElement("span");
    span.className = CLASSES[kind] ?? "";
    span.textContent = match[0];
    nodes.push(span);
    end = match.index + match[0].length;
  }
  nodes.push(source.slice(end));
  return nodes;
}

/** The same expressions in the present text; those of lost lines are left out. */
export function presentSpans(page: Page, spans: readonly Span[]): Span[] {
  const linesOf = (files: readonly ProgramFile[], file = MAIN): string[] => files.find(({ name }) => name === file)?.text.split("\n") ?? [];
  const ran = filesOf(page.view.origins.run?.source ?? "");
  const present = page.editor.files();
  return spans.flatMap((span) => {
    const [before, now] = [linesOf(ran, span.file), linesOf(present, span.file)];
    const line = presentLine(page, span);
    if (line === null) return [];
    const endLine = span.endLine + line - span.line;
    const isSame = before.slice(span.line - 1, span.endLine).every((text, index) => text === now[line - 1 + index]);
    return [isSame ? { ...span, line, endLine } : { ...span, line, endLine: line, column: null, endColumn: null }];
  });
}

export interface SourceView {
  /** Light what a line of the program became, or the innermost expression at its column. */
  light(line: number | null, column: number | null): void;
  /** The text of the program is another one. */
  moved(): void;
}

interface Place {
  source: HTMLElement;
  buffers: HTMLElement;
  language: string;
  hue: string;
  /** The reader points at no line any more. */
  leave(): void;
}

/** Lines of the text that belong together, and what they stand for. */
interface Piece extends KernelLine {
  node: HTMLElement;
}

export function mountSource(page: Page, { text, lines, buffers }: KernelSource, { source, buffers: list, language, hue, leave }: Place): SourceView {
  source.replaceChildren();
  const rows = text.split("\n");
  const part = (first: number, last: number): (Node | string)[] =>
    coloured(rows.slice(first, last + 1).join("\n") + (last + 1 < rows.length ? "\n" : ""), language);
  let next = 0;
  const pieces = lines.map((line): Piece => {
    source.append(...(next < line.first ? part(next, line.first - 1) : []));
    const node = el("span", { class: "source-piece" });
    node.append(...part(line.first, line.last));
    source.append(node);
    next = line.last + 1;
    return { ...line, node };
  });
  if (next < rows.length) source.append(...part(next, rows.length - 1));
  const entries = buffers.map((buffer) => entryOf(page, buffer));
  list.replaceChildren(...entries);
  const said = el("p", { class: "visually-hidden", role: "status" });
  source.after(said);
  let current = -1;
  const mark = (chosen: ReadonlySet<Piece>, named: ReadonlySet<number>): void => {
    for (const piece of pieces) piece.node.classList.toggle("is-lit", chosen.has(piece));
    entries.forEach((entry, index) => entry.classList.toggle("is-lit", named.has(index)));
  };
  const reveal = (piece: Piece | undefined): void => {
    if (!piece) return;
    const top = piece.node.offsetTop - source.offsetTop;
    const isSeen = top >= source.scrollTop && top < source.scrollTop + source.clientHeight;
    if (!isSeen) source.scrollTop = top - source.clientHeight / 3;
  };
  /** The reader points at a piece of the text: light the program. */
  const point = (index: number): void => {
    if (index === current) return;
    current = index;
    const piece = pieces[index];
    mark(new Set(piece ? [piece] : []), new Set(piece?.buffers));
    if (piece?.spans.length) page.lightSpans(presentSpans(page, piece.spans), hue);
    else leave();
  };
  source.addEventListener("pointermove", ({ target }) => {
    const node = target instanceof Element ? target.closest(".source-piece") : null;
    point(pieces.findIndex((piece) => piece.node === node));
  });
  source.addEventListener("pointerleave", () => point(-1));
  source.addEventListener("blur", () => point(-1));
  source.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step || !pieces.length) return;
    event.preventDefault();
    point(Math.min(Math.max(current + step, 0), pieces.length - 1));
    const piece = pieces[current];
    reveal(piece);
    if (piece) said.textContent = spoken(page, rows, piece);
  });
  const own = [...pieces.flatMap((piece) => piece.spans), ...buffers.flatMap(({ span }) => span ?? [])];
  const spans = new Map(own.map((span) => [keyOf(span), span]));
  /** The expressions in the present text; null until they are asked for. */
  let present: PresentSpan[] | null = null;
  const light = (line: number | null, column: number | null): void => {
    present ??= [...spans].flatMap(([key, span]) => presentSpans(page, [span]).map((now) => ({ key, now })));
    const here = present.filter(({ now }) => (now.file ?? MAIN) === page.view.file);
    const found = line === null ? [] : spansAt(here, line, column);
    const isChosen = (span: Span): boolean => found.includes(keyOf(span));
    const chosen = new Set(pieces.filter((piece) => piece.spans.some(isChosen)));
    const named = new Set([...chosen].flatMap((piece) => piece.buffers));
    buffers.forEach(({ span }, index) => span && isChosen(span) && named.add(index));
    mark(chosen, named);
    reveal([...chosen].find(({ helper }) => !helper) ?? [...chosen][0]);
  };
  const moved = (): void => {
    present = null;
  };
  return { light, moved };
}

/** The words for a piece of the text: its first line, and the expression that became it. */
function spoken(page: Page, rows: readonly string[], { first, spans: [span] }: Piece): string {
  const words = `Line ${first + 1}: ${rows[first]?.trim() ?? ""}`;
  return span ? `${words} From line ${span.line} of ${span.file ?? "the program"}: ${textOf(span, page.view.origins.run?.source ?? "")}` : words;
}

/** An expression as text; whole lines where its columns are not known. */
export function textOf({ line, column, endLine, endColumn, file = MAIN }: Span, source: string): string {
  const text = filesOf(source).find(({ name }) => name === file)?.text ?? "";
  const lines = text.split("\n").slice(line - 1, endLine);
  const end = (lines.at(-1) ?? "").slice(0, endColumn ?? undefined);
  return [...lines.slice(0, -1), end].join("\n").slice(column ?? 0).trim();
}

/** An expression of the program that ran, and where it stands in the present text. */
export interface PresentSpan {
  key: string;
  now: Span;
}

/** The keys of the expressions of a line, or of the innermost one at its column. */
export function spansAt(present: readonly PresentSpan[], line: number, column: number | null): string[] {
  const here = present.filter(({ now }) => now.line <= line && line <= now.endLine);
  const around = column === null ? [] : here.filter(({ now }) => holds(now, line, column));
  around.sort((one, other) => extent(one.now) - extent(other.now));
  return (around.length ? around.slice(0, 1) : here).map(({ key }) => key);
}

function keyOf({ line, column, endLine, endColumn, file }: Span): string {
  return [line, column, endLine, endColumn, file].join();
}

function holds({ line: first, endLine, column: from, endColumn: to }: Span, line: number, column: number): boolean {
  if (from === null || to === null) return false;
  return (line > first || column >= from) && (line < endLine || column < to);
}

function extent({ line, endLine, column, endColumn }: Span): number {
  return (endLine - line) * 10_000 + (endColumn ?? 0) - (column ?? 0);
}

function entryOf(page: Page, { name, value, bytes: size, written, span }: KernelBuffer): HTMLElement {
  const facts = ` ${written ? "written" : "read"}, ${value}, ${bytes(size)} `;
  return el("li", {}, el("code", {}, name), facts, span && lineLink(page, span));
}
