/** A block of printed text: finished lines, and a last line that can be overwritten. */

import { el } from "../../parts/dom";
import { AnsiReader, PLAIN, type Look } from "./ansi";

/** Consecutive characters of one style. */
interface Span {
  text: string;
  look: Look;
}

const BREAKS = /[\r\u001b]/;

export class Terminal {
  readonly #reader = new AnsiReader();
  /** The index of the last line's first node in the block. */
  #begin = 0;
  #line: Span[] = [];
  #column = 0;
  #length = 0;
  #isDrawn = true;

  constructor(readonly dom: HTMLPreElement) {}

  /** Append printed text; `draw` shows the last line, which may still change. */
  write(text: string): void {
    if (this.#reader.isPlain && this.#line.length === 0 && !BREAKS.test(text)) {
      this.#writePlain(text);
      return;
    }
    for (const piece of this.#reader.read(text)) {
      if (piece === "newline") this.#end();
      else if (piece === "return") this.#column = 0;
      else if (piece === "erase") this.#erase();
      else this.#put(piece);
      this.#isDrawn = false;
    }
  }

  /** Show what was written; called once per frame. */
  draw(): void {
    if (this.#isDrawn) return;
    this.#isDrawn = true;
    while (this.dom.childNodes.length > this.#begin) this.dom.lastChild?.remove();
    this.dom.append(...this.#line.map(nodeOf));
  }

  /** The fast path: complete lines without styles or overwriting. */
  #writePlain(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end) this.#keep([{ text: text.slice(0, end), look: PLAIN }]);
    if (end < text.length) {
      this.#put({ text: text.slice(end), look: PLAIN });
      this.#isDrawn = false;
    }
  }

  #put({ text, look }: Span): void {
    const after = this.#column + text.length;
    const last = this.#line.at(-1);
    if (this.#column === this.#length && last && isSame(last.look, look)) {
      last.text += text;
      this.#column = this.#length = after;
      return;
    }
    const before = cut(this.#line, 0, this.#column);
    this.#line = joined([...before, { text, look }, ...cut(this.#line, after, Infinity)]);
    this.#column = after;
    this.#length = Math.max(this.#length, after);
  }

  #erase(): void {
    this.#line = cut(this.#line, 0, this.#column);
    this.#length = Math.min(this.#length, this.#column);
  }

  #end(): void {
    this.#keep([...this.#line, { text: "\n", look: PLAIN }]);
    this.#line = [];
    this.#column = this.#length = 0;
  }

  /** Append finished spans, in as few nodes as possible. */
  #keep(spans: Span[]): void {
    while (this.dom.childNodes.length > this.#begin) this.dom.lastChild?.remove();
    for (const span of joined(spans)) {
      const last = this.dom.lastChild;
      if (span.look === PLAIN && last instanceof Text && last.length < LONGEST_NODE) last.appendData(span.text);
      else this.dom.append(nodeOf(span));
    }
    this.#begin = this.dom.childNodes.length;
  }
}

/** Length limit of a text node, since every extension lays it out again. */
const LONGEST_NODE = 8192;

/** The part of a line between two columns. */
function cut(line: readonly Span[], from: number, to: number): Span[] {
  const spans: Span[] = [];
  let start = 0;
  for (const { text, look } of line) {
    const part = text.slice(Math.max(from - start, 0), Math.max(to - start, 0));
    if (part) spans.push({ text: part, look });
    start += text.length;
  }
  return spans;
}

/** Merge consecutive spans of equal style. */
function joined(spans: readonly Span[]): Span[] {
  const made: Span[] = [];
  for (const span of spans) {
    const last = made.at(-1);
    if (last && isSame(last.look, span.look)) last.text += span.text;
    else made.push({ ...span });
  }
  return made;
}

function isSame(a: Look, b: Look): boolean {
  return a === b || (a.colour === b.colour && a.ground === b.ground && a.traits === b.traits);
}

function nodeOf({ text, look }: Span): Node {
  if (look === PLAIN) return document.createTextNode(text);
  const node = el("span", { class: "ansi", "data-traits": look.traits || null }, text);
  if (look.colour) node.style.setProperty("--ansi-colour", look.colour);
  if (look.ground) node.style.setProperty("--ansi-ground", look.ground);
  if (look.ground) node.dataset["ground"] = "";
  return node;
}
