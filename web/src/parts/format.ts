/** Numbers, shapes and durations as short text for people. */

/** The greatest count of axes shown of a shape. */
const MOST_AXES = 16;

/** Four significant digits, without trailing zeros. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return tidy(value.toExponential(3));
  return tidy(value.toPrecision(4));
}

/** The shortest text that identifies a value exactly in its dtype. */
export function exact(value: number, dtype: string): string {
  if (dtype === "bool") return value ? "True" : "False";
  if (!Number.isFinite(value) || Number.isInteger(value)) {
    const text = short(value);
    return Math.abs(value) < 1e7 || !Number.isFinite(value) ? text : String(value);
  }
  if (!["float32", "float16", "bfloat16", "complex64"].includes(dtype)) return String(value);
  for (let digits = 4; digits <= 9; digits++) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return tidy(text);
  }
  return String(value);
}

function tidy(text: string): string {
  const [mantissa = "", exponent] = text.split("e");
  const digits = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  return exponent === undefined ? digits : `${digits}e${exponent.replace("+", "")}`;
}

/** The count of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** A Python tuple, `(3,)` for one axis. */
export function tuple(values: readonly number[]): string {
  if (values.length > MOST_AXES) {
    return `(${values.slice(0, MOST_AXES - 2).join(", ")}, … ${values.length} axes)`;
  }
  return values.length === 1 ? `(${values[0]},)` : `(${values.join(", ")})`;
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(1)} kB`;
  if (count < 1e9) return `${(count / 1e6).toFixed(1)} MB`;
  return `${(count / 1e9).toFixed(2)} GB`;
}

export function duration(seconds: number): string {
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toFixed(seconds < 0.01 ? 1 : 0)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

/** `1 kernel`, `3 kernels`, `10,000 cells`. */
export function count(number: number, word: string, words = `${word}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? word : words}`;
}

const STEPS: readonly (readonly [string, number])[] = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/** How long ago something was, in words; `then` and `now` are milliseconds since 1970. */
export function ago(then: number, now = Date.now()): string {
  const seconds = Math.max(0, (now - then) / 1000);
  for (const [unit, length] of STEPS) {
    if (seconds < length) continue;
    const many = Math.floor(seconds / length);
    return `${many} ${unit}${many === 1 ? "" : "s"} ago`;
  }
  return "just now";
}
