// Prints the first result of each search that stdin lists, as the documents' pages find it.

import { readFileSync } from "node:fs";
import vm from "node:vm";

const pages = process.argv[2];
const document = { readyState: "loading", addEventListener() {}, getElementById: () => null };
const context = vm.createContext({ document, SPHINX_HIGHLIGHT_ENABLED: false, _: (text) => text });
context.window = context;
for (const file of ["_static/language_data.js", "_static/doctools.js", "_static/searchtools.js", "searchindex.js"]) {
  vm.runInContext(readFileSync(`${pages}/${file}`, "utf8"), context);
}
const first = "(query) => Search._performSearch(...Search._parseQuery(query)).at(-1)?.[1] ?? null";
const search = vm.runInContext(first, context);
const queries = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(Object.fromEntries(queries.map((query) => [query, search(query)]))));
