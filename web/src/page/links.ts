/** Where the page's documents are, from its own address. */
export const LINKS = {
  documentation: "docs/index.html",
  source: "docs/index.html#source",
} as const;
