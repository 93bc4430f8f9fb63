/** What a panel looks at, sufficient for another page to look at it after its own run. */

import { count, list, number, oneOf, orNull, record, refined, text, type Checked } from "./checks";

const MOST_STEPS = 40;
const MOST_AXES = 64;
const LONGEST_NAME = 400;
const name = text(LONGEST_NAME);

/** Whether this is what a panel can look at. */
export const isFocus = refined(
  record({
    /** The cells of the panel “Why?”, from the first one on; each of a value that the one before read. */
    why: list(record({ name, index: list(count(), MOST_AXES), value: name, line: orNull(count()), search: orNull(oneOf("first")) }), MOST_STEPS),
    /** The result of the run whose values are shown, and the step. */
    film: orNull(record({ result: count(), step: number, name })),
    /** The kernel whose text is open. */
    kernel: orNull(record({ kernel: count(), name })),
    /** The selected part of the time of a run, from 0 to 1. */
    range: orNull(refined(record({ from: number, to: number }), ({ from, to }) => from >= 0 && from < to && to <= 1)),
    /** The kernel and the buffer that are selected in the memory of a device; no buffer where nothing is in use. */
    memory: orNull(record({ device: name, step: count(), block: orNull(count()) })),
  }),
  ({ why, ...others }) => why.length > 0 || Object.values(others).some((one) => one !== null),
);

export type Focus = Checked<typeof isFocus>;
export type WhyStep = Focus["why"][number];

/** The panels whose focus needs a run that retains what every value was computed from. */
export const INSIDE: readonly string[] = ["why", "film"];

/** A name, or a value, as far as a focus has room for it. */
export function clipped(name: string): string {
  return name.slice(0, LONGEST_NAME);
}

/** A focus with some of its parts replaced, cut to what a link may carry: the last cells, the first characters. */
export function focused(focus: Focus | null, changes: Partial<Focus>): Focus | null {
  const next: Focus = { why: [], film: null, kernel: null, range: null, memory: null, ...focus, ...changes };
  const { why, film, kernel } = changes;
  if (why) next.why = why.slice(-MOST_STEPS).map((step) => ({ ...step, name: clipped(step.name), value: clipped(step.value) }));
  if (film) next.film = { ...film, name: clipped(film.name) };
  if (kernel) next.kernel = { ...kernel, name: clipped(kernel.name) };
  return isFocus(next) ? next : null;
}
