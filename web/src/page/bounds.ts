/** Limits the length of texts and lists from the worker, since a program can make them arbitrarily long. */

import type { Note } from "./messages";

const MOST_TEXT = 30_000;
const MOST_ITEMS = 1_000;
const MOST_OUTPUT = 120_000;

/** Return a text, or both its ends if it is longer than the limit. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  const omitted = (text.length - 2 * half).toLocaleString("en-US");
  return `${text.slice(0, half)}\n… ${omitted} characters left out …\n${text.slice(-half)}`;
}

/** Return a record whose texts and lists, however deep, are short enough to draw. */
export function bounded<T>(value: T, most = MOST_TEXT): T {
  if (typeof value === "string") return clipped(value, most) as T;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.slice(0, MOST_ITEMS).map((item: unknown) => bounded(item, most)) as T;
  }
  const entries = Object.entries(value).map(([key, item]) => [key, bounded(item, most)]);
  return Object.fromEntries(entries) as T;
}

/** Return a note that is short enough to draw. */
export function boundedNote(note: Note): Note {
  // The picture's length was checked on arrival.
  if (note.note === "picture" || note.note === "plot") return note;
  const short = bounded(note, note.note === "output" || note.note === "tail" ? MOST_OUTPUT : MOST_TEXT);
  // Pictures are never cut; Python and the limit of a run bound their size.
  return note.note === "display" && note.rich ? Object.assign(short, { rich: note.rich }) : short;
}
