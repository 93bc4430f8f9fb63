/** A line of a program with the part marked that failed. */

import { el } from "../../parts/dom";
import type { Frame } from "../../page/protocol";

export function markedCode({ code, column, endColumn, line, endLine, indent }: Frame): HTMLElement {
  if (column === null || endColumn === null) return el("code", {}, code);
  const start = Math.max(0, column - indent);
  const end = endLine === line ? Math.max(start, endColumn - indent) : code.length;
  return el("code", {}, code.slice(0, start), el("mark", {}, code.slice(start, end)), code.slice(end));
}
