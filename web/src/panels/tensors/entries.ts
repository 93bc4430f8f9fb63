/** Entries of the strip: single tensors, and the tensors of one list together. */

import { tuple } from "../../parts/format";
import type { TensorRecord } from "../../page/protocol";

export interface Entry {
  name: string;
  /** One tensor, or all tensors of a list that have the same shape and dtype. */
  tensors: readonly TensorRecord[];
  /** The representative: the last one. */
  shown: TensorRecord;
}

/** Merge the tensors of each list into one entry, at the index of the first. */
export function entriesOf(tensors: readonly TensorRecord[]): Entry[] {
  const groups = new Map<string, TensorRecord[]>();
  for (const tensor of tensors) {
    const key = tensor.group === null ? `tensor ${tensor.id}` : `group ${tensor.group}`;
    groups.set(key, [...(groups.get(key) ?? []), tensor]);
  }
  return [...groups.values()].flatMap((all) => {
    const shown = all.at(-1);
    if (!shown) return [];
    return [{ name: shown.group ?? shown.name, tensors: all, shown }];
  });
}

/** `(2, 3)`, of a list `30 × (2, 3)`. */
export function shapeOf({ tensors, shown }: Entry): string {
  const shape = tuple(shown.shape);
  return tensors.length > 1 ? `${tensors.length} × ${shape}` : shape;
}
