/** What the strip of tensors shows: each tensor, and those of one list as one entry. */

import { tuple } from "../../parts/format";
import type { TensorRecord } from "../../page/protocol";

export interface Entry {
  name: string;
  /** One, or all of a list that are alike. */
  tensors: readonly TensorRecord[];
  /** The one that stands for all: the last. */
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
