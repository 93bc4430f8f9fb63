/** Checks of untrusted values: each returns whether a value has the expected type. */

export type Check<T = unknown> = (value: unknown) => value is T;

/** The type that a check expects. */
export type Checked<C> = C extends Check<infer T> ? T : never;

export const flag: Check<boolean> = (value): value is boolean => typeof value === "boolean";

/** Any number that JSON can hold. */
export const number: Check<number> = (value): value is number => Number.isFinite(value);

export const integer: Check<number> = (value): value is number => Number.isInteger(value);

/** An integer from zero up to a limit. */
export function count(most = Number.MAX_SAFE_INTEGER): Check<number> {
  return (value): value is number => integer(value) && value >= 0 && value <= most;
}

export function text(most: number): Check<string> {
  return (value): value is string => typeof value === "string" && value.length <= most;
}

/** A string that matches a pattern completely; the pattern limits its length. */
export function matching(pattern: RegExp): Check<string> {
  return (value): value is string => typeof value === "string" && pattern.test(value);
}

/** Bytes with a buffer of their own. */
export function bytes(most: number): Check<Uint8Array> {
  return (value): value is Uint8Array => value instanceof Uint8Array && value.length <= most && value.length === value.buffer.byteLength;
}

export function oneOf<const T extends string | null>(...values: readonly T[]): Check<T> {
  return (value): value is T => (values as readonly unknown[]).includes(value);
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

/** For a field that may be missing. */
export function optional<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

export function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return (value): value is A | B => first(value) || second(value);
}

export function list<T>(check: Check<T>, most: number): Check<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.length <= most && value.every(check);
}

type Fields = Readonly<Record<string, Check>>;
type MayBeMissing<F extends Fields> = { [K in keyof F]: undefined extends Checked<F[K]> ? K : never }[keyof F];

/** The record that has the checked fields; fields that may be undefined may be missing. */
type RecordOf<F extends Fields> = { [K in Exclude<keyof F, MayBeMissing<F>>]: Checked<F[K]> } & {
  [K in MayBeMissing<F>]?: Exclude<Checked<F[K]>, undefined>;
};

/** An object with at least the given fields; other fields are ignored. */
export function record<F extends Fields>(fields: F): Check<RecordOf<F>> {
  const entries = Object.entries(fields);
  return (value): value is RecordOf<F> => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    return entries.every(([name, check]) => check((value as Record<string, unknown>)[name]));
  };
}

/** A check with a further condition, on several fields together. */
export function refined<T>(check: Check<T>, condition: (value: T) => boolean): Check<T> {
  return (value): value is T => check(value) && condition(value);
}

const MOST_CELLS = 1 << 20;

interface Cells {
  channels: number;
  rows: number;
  columns: number;
  encoding: string;
  values: string | Uint8Array;
}

/** Whether the count of values is what the size of a heat map requires, as bytes or as base64. */
export function hasAllCells({ channels, rows, columns, encoding, values }: Cells): boolean {
  const cells = rows * columns;
  const size = channels * cells * (encoding === "float64" ? 8 : 4);
  const length = typeof values === "string" ? Math.ceil(size / 3) * 4 : size;
  return channels > 0 && cells <= MOST_CELLS && values.length === length;
}
