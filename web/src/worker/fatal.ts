/** Describes a fatal error of Python, in one sentence. */

/** The text of any thrown value. */
export function textOf(error: unknown): string {
  if (typeof error === "object" && error !== null) {
    const { message, name } = error as { message?: unknown; name?: unknown };
    if (typeof message === "string" && message) return message;
    if (typeof name === "string" && name) return name;
    return "no reason was given";
  }
  return String(error);
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/call stack|too much recursion|stack overflow/i, "The program nested values or calls deeper than this browser's stack."],
  [/out of memory|OOM|memory allocation/i, "The program needed more memory than this browser gives Python."],
  [/already (fatally failed|exited)/i, "Python had ended."],
];

/** Return why Python cannot continue. */
export function reasonOf(error: unknown): string {
  const text = textOf(error);
  const { status } = (error ?? {}) as { status?: unknown };
  if (typeof status === "number") return `The program ended Python itself (exit code ${status}).`;
  const known = REASONS.find(([pattern]) => pattern.test(text));
  return known?.[1] ?? `Python stopped working (${text.split("\n", 1)[0] ?? ""}).`;
}

/** Whether Python cannot go on after this error. */
export function isFatal(error: unknown): boolean {
  if (error instanceof WebAssembly.RuntimeError) return true;
  if (error instanceof RangeError || error instanceof WebAssembly.LinkError) return true;
  if (/^Pyodide already (fatally failed|exited)/.test(textOf(error))) return true;
  return Boolean((error as { pyodide_fatal_error?: boolean } | null)?.pyodide_fatal_error);
}
