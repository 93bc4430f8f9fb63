/** The pictures that a display has had, bounded: of a long run every second one and so on. */

import type { LivePicture } from "../../page/protocol";

const MOST_PICTURES = 400;
/** Bytes of all pictures of one display. */
const MOST_SIZE = 72_000_000;

export class History {
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
