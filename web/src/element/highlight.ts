/** Colours Python before the editor is loaded, with the class names that the editor uses. */

const WORDS = `False None True and as assert async await break class continue def del elif else except finally for from
  global if import in is lambda nonlocal not or pass raise return try while with yield match case`.split(/\s+/);

const TOKEN = new RegExp(
  [
    /(?<comment>#.*)/,
    /(?<string>(?<!\w)[rbfutRBFUT]{0,2}(?:"""[^]*?(?:"""|$(?![^]))|'''[^]*?(?:'''|$(?![^]))|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))/,
    /(?<meta>^[ \t]*@[\w.]+)/,
    /(?<number>\b(?:0[xXoObB][\da-fA-F_]+|\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?j?)|\B\.\d[\d_]*(?:[eE][+-]?\d+)?)/,
    new RegExp(`(?<keyword>\\b(?:${WORDS.join("|")})\\b)`),
    /(?<=\b(?:def|class)\s+)(?<definition>\w+)/,
    /(?<name>\w+)/,
  ].map(({ source }) => source).join("|"),
  "gm",
);

/** Return a program's text as nodes, of which some are coloured. */
export function highlighted(text: string): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  let done = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined) ?? [];
    if (!kind || kind === "name") continue;
    nodes.push(text.slice(done, match.index), token(kind, match[0]));
    done = match.index + match[0].length;
  }
  return [...nodes, text.slice(done)];
}

function token(kind: string, text: string): HTMLElement {
  const node = document.createElement("span");
  node.className = `tok-${kind}`;
  node.textContent = text;
  return node;
}
