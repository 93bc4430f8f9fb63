/** Pictures that arrive during a run, by display. */

import type { Slice } from "../../page/messages";
import type { Display, LivePicture, TensorRecord } from "../../page/protocol";
import { sizeOf } from "../../parts/format";
import { planeOf } from "./axes";

const MOST_PICTURES = 400;
/** The limit of bytes for all pictures of one display. */
const MOST_SIZE = 72_000_000;

/** The retained pictures of one display: all, then every second one, then every fourth, within a limit. */
class History {
  #pictures: LivePicture[] = [];
  #size = 0;
  /** One picture of this many is retained. */
  #every = 1;
  #come = 0;
  #last: LivePicture | null = null;

  /** Add the newest picture; it is replaced by the next one unless it is to be retained. */
  add(picture: LivePicture): void {
    this.#last = picture;
    if (this.#come++ % this.#every !== 0) return;
    this.#pictures.push(picture);
    this.#size += picture.heatmap.values.length;
    if (this.#pictures.length > MOST_PICTURES || this.#size > MOST_SIZE) this.#thin();
  }

  get length(): number {
    return this.#all().length;
  }

  at(index: number): LivePicture | undefined {
    return this.#all()[index];
  }

  #all(): readonly LivePicture[] {
    const last = this.#last;
    return last && last !== this.#pictures.at(-1) ? [...this.#pictures, last] : this.#pictures;
  }

  #thin(): void {
    this.#every *= 2;
    this.#pictures = this.#pictures.filter((_, index) => index % 2 === 0);
    this.#size = this.#pictures.reduce((sum, { heatmap }) => sum + heatmap.values.length, 0);
  }
}

export interface Live {
  begin(): void;
  display(note: Display): void;
  /** Keep a picture. */
  picture(note: LivePicture): void;
  /** The pictures of the first of some displays that has at least two; null if none has. */
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
      const shown = displays.map((display) => histories.get(display));
      return shown.find((history) => history !== undefined && history.length > 1) ?? null;
    },
    record: ({ display, shape, dtype, heatmap }) => {
      const name = names.get(display) ?? "tensor";
      return {
        ...{ id: -1, name, names: [name], lines: [], displays: [display], group: null, cuts: [] },
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
