/**
 * Measures in one Node process on Dawn: `node node.mjs SPECIFICATION RESULTS`, both JSON
 * (`bench/__main__.py` writes the first). A stopped run leaves its rows.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { installDawn } from "./dawn.mjs";
import { run } from "./run.mjs";

const [specificationPath, resultsPath] = process.argv.slice(2);
const specification = JSON.parse(readFileSync(specificationPath, "utf-8"));
process.on("unhandledRejection", (error) => console.error("unhandled:", error));

const rows = [];
let about = { adapter: "", driver: "", node: process.version };

function write() {
  writeFileSync(resultsPath, JSON.stringify({ ...about, rows }));
}

installDawn();
about = {
  ...about,
  ...(await run(specification, {
    name: "",
    log: console.log,
    read: (path) => new Uint8Array(readFileSync(path)),
    keep(found) {
      rows.push(...found);
      write();
    },
  })),
};
write();
process.exit(0); // Dawn's threads outlive their last use
