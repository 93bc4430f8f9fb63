/** Checks of untrusted values: each returns whether a value has the expected type. */

export type Check = (value: unknown) => boolean;

export const flag: Check = (value) => typeof value === "boolean";

/** Any number that JSON can hold. */
export const number: Check = (value) => Number.isFinite(value);

/** An integer from zero up to a limit. */
export function whole(most = Number.MAX_SAFE_INTEGER): Check {
  return (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

export function text(most: number): Check {
  return (value) => typeof value === "string" && value.length <= most;
}

/** A string that matches a pattern completely; the pattern limits its length. */
export function matching(pattern: RegExp): Check {
  return (value) => typeof value === "string" && pattern.test(value);
}

/** Bytes with a buffer of their own. */
export function bytes(most: number): Check {
  return (value) => value instanceof Uint8Array && value.length <= most && value.length === value.buffer.byteLength;
}

export function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}

export function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

/** For a field that may be missing. */
export function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

export function either(first: Check, second: Check): Check {
  return (value) => first(value) || second(value);
}

export function list(check: Check, most: number): Check {
  return (value) => Array.isArray(value) && value.length <= most && value.every(check);
}

/** An object with at least the fields of a type; other fields are ignored. */
export function record<T extends object = Record<string, unknown>>(
  fields: { readonly [K in keyof T]-?: Check },
): Check {
  const rows = Object.entries<Check>(fields);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    return rows.every(([name, check]) => check((value as Record<string, unknown>)[name]));
  };
}
