/** Pictures that come while a program runs: kept by display, one of them followed. */

import type { Display, LivePicture, Slice, TensorRecord } from "../../page/protocol";
import { planeOf } from "./axes";
import { History } from "./history";

export interface Live {
  begin(): void;
  display(note: Display): void;
  /** Keep a picture; true when it is of the display that is followed. */
  picture(note: LivePicture): boolean;
  follow(display: number): boolean;
  /** The display that is followed while the program runs; null before its first picture. */
  followed(): number | null;
  history(displays: readonly number[]): History | null;
  /** What is known of a displayed tensor from its picture. */
  record(picture: LivePicture): TensorRecord;
}

export function liveDisplays(): Live {
  let histories = new Map<number, History>();
  let names = new Map<number, string>();
  let followed: number | null = null;
  let isFixed = false;
  return {
    begin: () => {
      histories = new Map();
      names = new Map();
      followed = null;
      isFixed = false;
    },
    display: ({ display, name }) => names.set(display, name ?? "tensor"),
    picture: (note) => {
      const known = histories.get(note.display) ?? new History();
      known.add(note);
      histories.set(note.display, known);
      // The first that moves is followed: several would take turns in one picture.
      if (!isFixed) followed = note.display;
      if (note.step > 1) isFixed = true;
      return note.display === followed;
    },
    follow: (display) => {
      if (!histories.has(display)) return false;
      followed = display;
      isFixed = true;
      return true;
    },
    followed: () => followed,
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
        size: shape.reduce((product, length) => product * length, 1),
      };
    },
  };
}

/** The slice of which a running program sends pictures. */
export function liveSlice({ shape, heatmap }: LivePicture): Slice {
  const channels = heatmap.channels > 1 ? shape.length - 1 : null;
  return { tensor: -1, ...planeOf(shape, channels), indices: shape.map(() => 0) };
}
