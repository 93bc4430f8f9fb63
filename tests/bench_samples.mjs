/**
 * Prints the operands of workloads and how far given results are from their samples: a
 * JSON list of `{workload, result}` is the input, one of `{operands, error}` the output.
 */

import { readFileSync } from "node:fs";
import { errorOf, operands } from "../bench/js/data.mjs";

const found = JSON.parse(readFileSync(0, "utf-8")).map(({ workload, result }) => ({
  operands: operands(workload).map((values) => Array.from(values)),
  error: errorOf(workload, null, result),
}));
console.log(JSON.stringify(found));
