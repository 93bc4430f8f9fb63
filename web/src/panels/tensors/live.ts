/** Pictures that arrive while a program runs, by display. */

import type { Slice } from "../../page/messages";
import type { Display, LivePicture, TensorRecord } from "../../page/protocol";
import { sizeOf } from "../../parts/format";
import { planeOf } from "./axes";
import { History } from "./history";

export interface Live {
  begin(): void;
  display(note: Display): void;
  /** Keep a picture. */
  picture(note: LivePicture): void;
  /** The pictures that one of some displays has had; null if it has had no two. */
  history(displays: readonly number[]): History | null;
  /** The record of a displayed tensor, made from its picture. */
  record(picture: LivePicture): TensorRecord;
}

export function liveDisplays(): Live {
  let histories = new Map<number, History>();
  let names = new Map<number, string>();
  return {
    begin: () => {
      histories = new Map();
      names = new Map();
    },
    display: ({ display, name }) => names.set(display, name ?? "tensor"),
    picture: (note) => {
      const known = histories.get(note.display) ?? new History();
      known.add(note);
      histories.set(note.display, known);
    },
    history: (displays) => {
      const found = displays.map((display) => histories.get(display));
      return found.find((history) => history !== undefined && history.length > 1) ?? null;
    },
    record: ({ display, shape, dtype, heatmap }) => {
      const name = names.get(display) ?? "tensor";
      return {
        ...{ id: -1, name, names: [name], displays: [display], group: null, cuts: [] },
        ...{ shape, dtype, device: "", strides: [], offset: 0, contiguous: true, viewOf: null },
        ...{ channels: heatmap.channels > 1 ? shape.length - 1 : null, coloured: heatmap.channels > 1 },
        size: sizeOf(shape),
      };
    },
  };
}

/** The slice of which a running program sends pictures. */
export function liveSlice({ shape, heatmap }: LivePicture): Slice {
  const channels = heatmap.channels > 1 ? shape.length - 1 : null;
  return { tensor: -1, ...planeOf(shape, channels), indices: shape.map(() => 0) };
}
