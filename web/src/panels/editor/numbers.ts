/** Number literals that are dragged: their ranges in the code, their steps, their new texts. */

import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";

export interface Literal {
  from: number;
  to: number;
  text: string;
}

/** How long a program that is not parsed yet may be parsed up to a position. */
const PARSE_MS = 50;

/** A decimal literal of Python, with an optional minus sign. */
const DECIMAL = /^(-?)(\d[\d_]*|\d*\.\d+|\d+\.\d*)(?:e([+-]?\d+))?$/i;

/** The decimal number at a position, with its minus sign; null for anything else. */
export function literalAt(state: EditorState, position: number): Literal | null {
  const tree = ensureSyntaxTree(state, position, PARSE_MS) ?? syntaxTree(state);
  const node = [tree.resolveInner(position, 1), tree.resolveInner(position, -1)].find(({ name }) => name === "Number");
  if (!node) return null;
  const { parent, to } = node;
  const isNegative = parent?.name === "UnaryExpression" && state.sliceDoc(parent.from, node.from) === "-";
  const from = isNegative && parent ? parent.from : node.from;
  const text = state.sliceDoc(from, to);
  return DECIMAL.test(text) ? { from, to, text } : null;
}

/**
 * The text of a literal after some steps. A step is one of the last decimal digit, or of
 * the second digit of a larger whole number; a float of one digit gets one more digit.
 */
export function stepped(text: string, steps: number): string {
  const [, sign = "", digits = "", exponent] = DECIMAL.exec(text) ?? [];
  const bare = digits.replaceAll("_", "");
  const [whole = "", fraction] = bare.split(".");
  const isFloat = fraction !== undefined || exponent !== undefined;
  if (!isFloat) {
    const size = 10 ** Math.max(0, whole.replace(/^0+/, "").length - 2);
    const value = Number(sign + whole) + steps * size;
    return digits.includes("_") ? grouped(value) : String(value);
  }
  const significant = (whole + (fraction ?? "")).replace(/^0+/, "").length;
  const decimals = (fraction ?? "").length + (significant < 2 ? 1 : 0);
  const value = Number(sign + bare) + steps * 10 ** -decimals;
  const moved = value.toFixed(decimals);
  const plain = Number(moved) === 0 ? moved.replace("-", "") : moved;
  const short = exponent !== undefined && steps === 0 ? text : plain;
  return exponent === undefined || steps === 0 ? short : `${short}e${exponent}`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, "_");
}
