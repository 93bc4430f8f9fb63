/** How cells are written. */

import type { TensorRecord } from "../../page/protocol";

/** A cell of a tensor as the program would index it. */
export function cellName(tensor: Pick<TensorRecord, "name" | "names">, index: readonly number[]): string {
  const name = tensor.names[0] ?? tensor.name;
  const plain = /^[\w.[\]'"]+$/.test(name) ? name : `(${name})`;
  return index.length > 0 ? `${plain}[${index.join(", ")}]` : name;
}
