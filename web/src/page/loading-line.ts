/** Lines of Python that load the reader's files, and where to insert them. */

import type { Change } from "./editor";

/** By kind of file: the variable's name and the call that loads it. */
const KINDS: readonly [RegExp, string, (name: string) => string][] = [
  [/\.wav$/i, "sound, rate", (name) => `tw.load(${name})`],
  [/\.(png|jpe?g|webp|gif)$/i, "picture", (name) => `tw.load(${name})`],
  [/\.(csv|tsv)$/i, "table", (name) => `tw.load(${name})`],
  [/\.(npy|npz|safetensors)$/i, "x", (name) => `tw.load(${name})`],
  [/\.(txt|md|json|log)$/i, "text", (name) => `open(${name}).read()`],
  [/(?:)/, "data", (name) => `open(${name}, "rb").read()`],
];

const IMPORT = /^(?:import|from)\s[^\n]*/gm;
const OURS = /^import\s+tensorweb\s+as\s+tw\b|^import\s[^\n]*,\s*tensorweb\s+as\s+tw\b/m;

/** The line that loads a file; the second file of a kind becomes `picture_2`. */
export function loadingLine(name: string, which = 1): string {
  const [, variables, load] = KINDS.find(([pattern]) => pattern.test(name)) ?? KINDS[0]!;
  const numbered = which > 1 ? variables.replace(/\w+/g, `$&_${which}`) : variables;
  return `${numbered} = ${load(JSON.stringify(name))}`;
}

/** The lines that load files, each into a name that is not yet used in the program. */
function linesFor(source: string, names: readonly string[]): string[] {
  const lines = source.split("\n");
  return names.map((name) => {
    const isFree = (line: string): boolean => {
      const binding = line.slice(0, line.indexOf("=") + 1);
      return lines.every((other) => other === line || !other.startsWith(binding));
    };
    let which = 1;
    while (!isFree(loadingLine(name, which))) which += 1;
    const line = loadingLine(name, which);
    lines.push(line);
    return line;
  });
}

/** Insert lines that load files, and their import, after the program's last import; also return their first line. */
export function insertion(source: string, names: readonly string[]): { change: Change; line: number } {
  const lines = linesFor(source, names);
  const needsOurs = lines.some((line) => line.includes("tw.")) && !OURS.test(source);
  const imports = [...source.matchAll(IMPORT)];
  const last = imports.at(-1);
  let from = last ? last.index + last[0].length : 0;
  // A parenthesized import ends with its brackets.
  if (last?.[0].includes("(") && !last[0].includes(")")) from = Math.max(source.indexOf(")", from) + 1, from);
  const added = [...(needsOurs ? ["import tensorweb as tw"] : []), ...lines].join("\n");
  const insert = last ? `\n${added}` : `${added}\n`;
  const line = source.slice(0, from).split("\n").length + (last ? 1 : 0) + (needsOurs ? 1 : 0);
  return { change: { from, to: from, insert }, line };
}
