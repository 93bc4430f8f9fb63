/** Colours WGSL source for reading: comments, numbers, keywords and types. */

const TOKEN =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|\b(0x[\da-fA-F]+[iu]?|\d[\d.]*(?:e[+-]?\d+)?[fhiu]?)\b|(@\w+)|\b(fn|let|var|const|override|struct|return|if|else|for|while|loop|break|continue|switch|case|default|enable|alias|true|false)\b|\b(f32|f16|i32|u32|bool|array|atomic|vec[234][fiuh]?|mat\dx\d[fh]?|ptr)\b/g;
const CLASSES = ["tok-comment", "tok-number", "tok-meta", "tok-keyword", "tok-typeName"];

/** Return the source as text and coloured spans, in order. */
export function colourWgsl(source: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let end = 0;
  for (const match of source.matchAll(TOKEN)) {
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
