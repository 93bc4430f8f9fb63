/** What the lines of a run made, as short texts at their ends, and the kernels of each line. */

import { duration, tuple } from "../parts/format";
import { MAIN } from "./program";
import type { KernelLaunches, KernelRecord, LineResult, NonfiniteLine, RunRecord, TensorRecord } from "./protocol";

/** Hues of kernels; `tokens.css` defines a colour for each. */
export const HUES = 8;

/** The results of one statement in the order in which it made them. */
export interface LineResults {
  /** The first and last line of the statement in the program that ran. */
  first: number;
  line: number;
  /** At the end of the line. */
  text: string;
  /** In words, for readers who do not see the text. */
  words: string;
  /** Whether a value is known to be NaN or infinite. */
  isBad: boolean;
  /** Indices of `RunRecord.lines`. */
  results: number[];
  /** Indices of the kernels that computed something of these lines. */
  kernels: number[];
}

const NAMES = { nan: "NaN", inf: "infinity" } as const;
const MOST_NAMED = 3;
const MOST_KERNELS = 3;

/** The class that colours what belongs to a kernel. */
export function hueOf(kernel: number): string {
  return `hue-${(kernel % HUES) + 1}`;
}

/** The lines of a file for which a kernel computes something, ascending. */
export function linesOf(kernel: KernelRecord, file = MAIN): number[] {
  const parts = [...(kernel.spans ?? []), ...launchesOf(kernel)];
  const all = new Set(parts.filter((part) => (part.file ?? MAIN) === file).map(({ line }) => line));
  return [...all].sort((a, b) => a - b);
}

/** How often a kernel was launched for each of its lines. */
export function launchesOf({ line, file = MAIN, count, launches }: KernelRecord): KernelLaunches[] {
  return launches ?? (line === null ? [] : [{ file, line, count }]);
}

/** The kernels of each line of a file. */
export function kernelsByLine({ kernels }: RunRecord, file = MAIN): Map<number, number[]> {
  const found = new Map<number, number[]>();
  kernels.forEach((kernel, index) => {
    for (const line of linesOf(kernel, file)) found.set(line, [...(found.get(line) ?? []), index]);
  });
  return found;
}

/** The results of a file's statements by the lines at which they end. */
export function lineResults(run: RunRecord, tensors: readonly TensorRecord[], file: string, unnamed: readonly NonfiniteLine[] = []): LineResults[] {
  const nonfinite = nonfiniteResults(tensors, unnamed);
  const earliest = Math.min(...nonfinite.keys());
  // In a loop, a line that ran later for the first time can be the first one with a NaN.
  const seen = run.lines[earliest]?.count === 1 ? earliest : null;
  const byEnd = new Map<number, number[]>();
  (run.lines ?? []).forEach((made, index) => {
    if (made.file === file) byEnd.set(made.endLine, [...(byEnd.get(made.endLine) ?? []), index]);
  });
  const kernels = kernelsByLine(run, file);
  return [...byEnd].sort(([a], [b]) => a - b).map(([line, results]) => {
    const made = results.map((index) => run.lines[index]).filter((one) => one !== undefined);
    const first = Math.min(...made.map((one) => one.line));
    const all = new Set<number>();
    for (let at = first; at <= line; at++) for (const kernel of kernels.get(at) ?? []) all.add(kernel);
    const own = [...all].sort((a, b) => a - b);
    const bad = badIn(run, nonfinite, seen, results, file, first, line);
    const { kinds, costs } = marksOf(run, made, own, file, first, line);
    const names = own.slice(0, MOST_KERNELS).map((kernel) => `k${kernel + 1}`).join(" ");
    const of = own.length ? `; kernels ${own.map((kernel) => kernel + 1).join(", ")}` : "";
    return {
      ...{ first, line, results, kernels: own, isBad: bad.length > 0 },
      // What warns stands first: the end of a long text is cut off.
      text: [...bad, ...kinds, [names, named(made)].filter(Boolean).join(" "), ...costs].join(" · "),
      words: `Line ${line} made ${[named(made), ...kinds, ...bad, ...costs].join(" · ")}${of}`,
    };
  });
}

/** `float32 (3, 4)`, or `q (3, 4), k (4,) float32` of several. */
function named(made: readonly LineResult[]): string {
  const [one] = made;
  if (!one) return "";
  const shape = ({ shape, varies }: LineResult): string => `${varies ? "last " : ""}${tuple(shape)}`;
  if (made.length === 1) return `${one.dtype} ${shape(one)}`;
  const parts = made.slice(0, MOST_NAMED).map((each) => `${each.name || "result"} ${shape(each)}`);
  const rest = made.length > MOST_NAMED ? ` and ${made.length - MOST_NAMED} more` : "";
  const isAlike = made.every(({ dtype }) => dtype === one.dtype);
  return `${parts.join(", ")}${rest}${isAlike ? ` ${one.dtype}` : ""}`;
}

/** Whether it is a view or a copy; the count in loops and the time of its kernels. */
function marksOf(run: RunRecord, made: readonly LineResult[], kernels: readonly number[], file: string, first: number, last: number): { kinds: string[]; costs: string[] } {
  const kinds: string[] = [];
  const costs: string[] = [];
  const most = Math.max(...made.map(({ count }) => count));
  if (most > 1) costs.push(`×${most.toLocaleString("en-US")}`);
  if (made.every(({ view }) => view)) kinds.push("view");
  if (made.some(({ copied }) => copied)) kinds.push("copy");
  const seconds = kernels.flatMap((index) => secondsOf(run.kernels[index], file, first, last) ?? []);
  if (seconds.length) costs.push(duration(seconds.reduce((sum, one) => sum + one, 0)));
  return { kinds, costs };
}

/** The time of a kernel's launches for some lines; all of them took equally long. */
function secondsOf(kernel: KernelRecord | undefined, file: string, first: number, last: number): number | null {
  if (kernel?.seconds === undefined) return null;
  const all = launchesOf(kernel);
  const own = all.filter((one) => one.file === file && one.line >= first && one.line <= last);
  const sum = (of: typeof all): number => of.reduce((total, { count }) => total + count, 0);
  return own.length ? (kernel.seconds * sum(own)) / sum(all) : null;
}

/** The results that are known not to be finite, by statistics of their last values. */
function nonfiniteResults(tensors: readonly TensorRecord[], unnamed: readonly NonfiniteLine[]): Map<number, NonfiniteLine["kind"]> {
  const found = new Map(unnamed.map(({ line, kind }) => [line, kind]));
  for (const { lines, nan = 0, inf = 0 } of tensors) {
    for (const line of nan + inf > 0 ? (lines ?? []) : []) found.set(line, nan > 0 ? "nan" : "inf");
  }
  return found;
}

/** What is known not to be finite: `seen` is the first such result, or a search has found the first one. */
function badIn(run: RunRecord, nonfinite: ReadonlyMap<number, NonfiniteLine["kind"]>, seen: number | null, results: readonly number[], file: string, first: number, last: number): string[] {
  const isHere = (line: number): boolean => line >= first && line <= last;
  const origins = (run.search?.origins ?? []).filter((one) => one.file === file && one.lines.some(isHere));
  const [origin] = origins;
  if (origin) return [`first ${NAMES[origin.kind]}`];
  const own = results.flatMap((index) => nonfinite.get(index) ?? []);
  if (!own.length) return [];
  const name = NAMES[own.includes("nan") ? "nan" : "inf"];
  return [seen !== null && results.includes(seen) ? `${name} first seen` : name];
}
