/** Batches the messages of a program and delivers them once per frame, in order. */

import type { Note } from "./messages";

/** In a hidden tab there are no frames. */
const LONGEST_MS = 200;

export class Batch {
  #notes: Note[] = [];
  #texts: string[] = [];
  #frame = 0;
  #timer = 0;

  constructor(readonly handOn: (note: Note) => void) {}

  /** Queue a message; consecutive texts of one stream are concatenated. */
  add(note: Note): void {
    const last = this.#notes.at(-1);
    if (note.note === "output" && last?.note === "output" && last.stream === note.stream) {
      this.#texts.push(note.text);
      return;
    }
    this.#join();
    if (note.note === "picture" || note.note === "plot") this.#drop(note.note, note.display);
    this.#notes.push(note);
    if (note.note === "output") this.#texts.push(note.text);
    if (this.#timer) return;
    this.#frame = requestAnimationFrame(() => this.flush());
    this.#timer = window.setTimeout(() => this.flush(), LONGEST_MS);
  }

  /** Drop a display's undelivered picture or plot, since a newer one has arrived. */
  #drop(kind: "picture" | "plot", display: number): void {
    this.#notes = this.#notes.filter((one) => one.note !== kind || one.display !== display);
  }

  /** Deliver all messages now. */
  flush(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#join();
    const notes = this.#notes;
    this.#notes = [];
    notes.forEach(this.handOn);
  }

  #join(): void {
    const last = this.#notes.at(-1);
    if (last?.note === "output") this.#notes[this.#notes.length - 1] = { ...last, text: this.#texts.join("") };
    this.#texts = [];
  }
}
