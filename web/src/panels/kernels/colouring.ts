/** Colours the source of kernels for reading: comments, numbers, keywords and types. */

const CLASSES = ["tok-comment", "tok-number", "tok-meta", "tok-keyword", "tok-typeName"];

/** What each group of a language's pattern is, in the order of `CLASSES`. */
const LANGUAGES: Readonly<Record<string, RegExp>> = {
  wgsl: /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|\b(0x[\da-fA-F]+[iu]?|\d[\d.]*(?:e[+-]?\d+)?[fhiu]?)\b|(@\w+)|\b(fn|let|var|const|override|struct|return|if|else|for|while|loop|break|continue|switch|case|default|enable|alias|true|false)\b|\b(f32|f16|i32|u32|bool|array|atomic|vec[234][fiuh]?|mat\dx\d[fh]?|ptr)\b/g,
  wasm: /(\(;[\s\S]*?;\)|;;[^\n]*)|(?<![\w.$])([+-]?(?:0x[\da-fA-F.]+(?:p[+-]?\d+)?|\d[\d.]*(?:e[+-]?\d+)?|inf|nan(?::0x[\da-fA-F]+)?))(?![\w.])|(\$[\w.]+|"[^"\n]*")|\b(module|import|export|memory|func|param|result|local(?![.])|block|loop|if|else|end|br_if|br|return|call|select|unreachable|drop)\b|\b([if](?:32|64)|v128|[if](?:8x16|16x8|32x4|64x2))\b/g,
};

/** Return the source as text and coloured spans, in order. */
export function coloured(source: string, language: string): (Node | string)[] {
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
