/** The page's style sheets inside an element, which needs no permission of a page's policy. */

const sheets = new Map<string, CSSStyleSheet>();

/** Let an element's root use style sheets; colours and sizes are the element's own. */
export function adopt(root: ShadowRoot, ...texts: readonly string[]): void {
  const known = texts.map((text) => {
    const sheet = sheets.get(text) ?? new CSSStyleSheet();
    if (!sheets.has(text)) sheet.replaceSync(text.replaceAll(":root", ":host"));
    sheets.set(text, sheet);
    return sheet;
  });
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, ...known])];
}
