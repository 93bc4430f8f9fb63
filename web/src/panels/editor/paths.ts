/** Finds dotted paths in a program: before the cursor, at a position, of the enclosing call. */

import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";

export interface Path {
  text: string;
  from: number;
  to: number;
}

const PATH = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
const BESIDES = new Set(["String", "FormatString", "Comment", "ImportStatement"]);

/** The path that ends with the name at a position; null for anything else. */
export function pathAt(state: EditorState, position: number, side: -1 | 0 | 1 = 0): Path | null {
  const node = syntaxTree(state).resolveInner(position, side);
  if (node.name !== "VariableName" && node.name !== "PropertyName") return null;
  const from = node.name === "PropertyName" ? (node.parent?.from ?? node.from) : node.from;
  const text = state.sliceDoc(from, node.to);
  return PATH.test(text) ? { text, from: node.from, to: node.to } : null;
}

/** Whether a position is in a comment or string. */
export function isBesides(state: EditorState, position: number): boolean {
  for (let node: SyntaxNode | null = syntaxTree(state).resolveInner(position, -1); node; node = node.parent) {
    if (BESIDES.has(node.name)) return true;
  }
  return false;
}

/** The path of the call whose arguments surround the cursor. */
export function callAround(state: EditorState, position: number): Path | null {
  for (let node: SyntaxNode | null = syntaxTree(state).resolveInner(position, -1); node; node = node.parent) {
    if (node.name !== "ArgList" || position <= node.from) continue;
    if (position >= node.to && state.sliceDoc(node.to - 1, node.to) === ")") continue;
    const called = node.prevSibling;
    const text = called ? state.sliceDoc(called.from, called.to) : "";
    return called && PATH.test(text) ? { text, from: called.from, to: node.from } : null;
  }
  return null;
}
