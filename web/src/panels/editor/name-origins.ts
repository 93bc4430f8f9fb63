/** Resolves names of a program from its text: the imports and assignments that bind them. */

import { syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";

const IMPORT = /^[ \t]*import[ \t]+([^#;\n]+)/gm;
const FROM = /^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(?:\(([^)]*)\)|([^#;(\n]+))/gm;
const ALIASED = /^\s*([\w.]+)(?:\s+as\s+(\w+))?\s*$/;
/** Limit of the chain of names bound to names that is followed. */
const DEEPEST = 8;

/** Resolve a path that begins with a name of the program to one that begins with a module; null if the text does not determine it. */
export function imported(path: string, state: EditorState): string | null {
  const modules = modulesOf(state.doc.toString());
  let known = path;
  for (let depth = 0; depth < DEEPEST; depth += 1) {
    const [first] = /^\w+/.exec(known) ?? [""];
    const module = modules.get(first);
    if (module) return module + known.slice(first.length);
    const bound = assigned(state, first);
    if (bound === null) return null;
    known = bound + known.slice(first.length);
  }
  return null;
}

/** The expression that ends at a position, as a path: calls are `()`, indices `[]`; null for what is none. */
export function expressionAt(state: EditorState, end: number): string | null {
  let path: string | null = null;
  for (let node: SyntaxNode | null = syntaxTree(state).resolveInner(end, -1); node?.to === end; node = node.parent) {
    path = pathOf(state, node) ?? path;
  }
  return path;
}

/** By name, the path that the program's imports bind it to. */
function modulesOf(source: string): Map<string, string> {
  const paths = new Map<string, string>();
  for (const [, list = ""] of source.matchAll(IMPORT)) {
    for (const [module, name] of aliased(list)) {
      // Without an alias only the first part is bound.
      const [first = module] = module.split(".");
      paths.set(name ?? first, name ? module : first);
    }
  }
  for (const [, module = "", inside, plain = ""] of source.matchAll(FROM)) {
    for (const [name, as] of aliased(inside ?? plain)) paths.set(as ?? name, `${module}.${name}`);
  }
  return paths;
}

function aliased(list: string): [string, string | undefined][] {
  return list.split(",").flatMap((part) => {
    const [, name, as] = ALIASED.exec(part) ?? [];
    return name ? [[name, as] as [string, string | undefined]] : [];
  });
}

/** The path that the last assignment to a name binds; null if it is no path. */
function assigned(state: EditorState, name: string): string | null {
  let bound: string | null = null;
  syntaxTree(state).iterate({
    enter: ({ name: kind, node }) => {
      if (kind !== "AssignStatement") return;
      const [targets, value] = sides(node);
      const isOne = targets.length === 1;
      const own = targets.some((target) => state.sliceDoc(target.from, target.to) === name);
      const path = own && value ? pathOf(state, value) : null;
      // An expression of the name itself usually keeps its type.
      if (path !== null && /^\w+/.exec(path)?.[0] !== name) bound = isOne ? path : `${path}[]`;
    },
  });
  return bound;
}

/** The names before the first `=`, and the single expression after it. */
function sides(node: SyntaxNode): [SyntaxNode[], SyntaxNode | null] {
  const targets: SyntaxNode[] = [];
  let child = node.firstChild;
  for (; child && child.name !== "AssignOp"; child = child.nextSibling) {
    if (child.name === "VariableName") targets.push(child);
    else if (child.name !== "," && child.name !== "TypeDef") return [[], null];
  }
  const value = child?.nextSibling ?? null;
  return [targets, value?.nextSibling ? null : value];
}

function pathOf(state: EditorState, node: SyntaxNode): string | null {
  const first = node.firstChild;
  switch (node.name) {
    case "VariableName":
      return state.sliceDoc(node.from, node.to);
    case "ParenthesizedExpression":
      return first?.nextSibling ? pathOf(state, first.nextSibling) : null;
    case "BinaryExpression": {
      // A tensor with a number is a tensor.
      const last = node.lastChild;
      return (first && pathOf(state, first)) ?? (last && pathOf(state, last));
    }
    case "CallExpression":
    case "MemberExpression": {
      const before = first && pathOf(state, first);
      if (!before) return null;
      if (node.name === "CallExpression") return `${before}()`;
      const property = node.getChild("PropertyName");
      return before + (property ? `.${state.sliceDoc(property.from, property.to)}` : "[]");
    }
    default:
      return null;
  }
}
