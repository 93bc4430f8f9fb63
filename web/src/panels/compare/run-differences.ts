/** What differs between two runs: lines of the program, tensors by name, kernels by name and size, costs. */

import { Text } from "@codemirror/state";
import { Chunk } from "@codemirror/merge";
import { bytes, count, duration, short, tuple } from "../../parts/format";
import { unpack } from "../../page/program";
import type { KernelRecord, RunRecord, TensorRecord } from "../../page/protocol";

/** What is retained of a run. */
export interface RunResults {
  run: RunRecord;
  tensors: readonly TensorRecord[];
  device: string;
  source: string;
}

/** One difference: its name, and what it was before and is now; null where it was or is not. */
export interface Difference {
  name: string;
  before: string | null;
  now: string | null;
}

export interface Differences {
  /** The lines of the program that differ, in words. */
  program: string;
  facts: Difference[];
  tensors: Difference[];
  /** How many tensors have equal facts. */
  equal: number;
  kernels: Difference[];
}

export function differencesOf(before: RunResults, now: RunResults): Differences {
  const facts = [before, now].map(factsOf) as [Map<string, string>, Map<string, string>];
  const tensors = [before, now].map(({ tensors }) => new Map(tensors.map((one) => [one.name, valuesOf(one)]))) as typeof facts;
  const kernels = [before, now].map(({ run }) => launchesOf(run.kernels)) as typeof facts;
  const differing = between(...tensors);
  return { program: changesOf(before.source, now.source), facts: between(...facts), tensors: differing, equal: new Set([...tensors[0].keys(), ...tensors[1].keys()]).size - differing.length, kernels: between(...kernels) };
}

function between(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Difference[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name)).map((name) => ({ name, before: before.get(name) ?? null, now: now.get(name) ?? null }));
}

/** Which lines of the files of a program differ, in words. */
function changesOf(before: string, now: string): string {
  const [old, own] = [before, now].map((source) => new Map(unpack(source).map(({ name, text }) => [name, Text.of(`${text.trimEnd()}\n`.split("\n"))]))) as [Map<string, Text>, Map<string, Text>];
  const found = [...new Set([...old.keys(), ...own.keys()])].flatMap((name) => {
    const [a, b] = [old.get(name) ?? Text.empty, own.get(name) ?? Text.empty];
    const chunks = Chunk.build(a, b);
    const [first] = chunks;
    if (!first) return [];
    const lines = (text: Text, from: number, to: number): number => (to > from ? text.lineAt(Math.min(to - 1, text.length)).number - text.lineAt(from).number + 1 : 0);
    const changed = chunks.reduce((sum, { fromA, toA, fromB, toB }) => sum + Math.max(lines(a, fromA, toA), lines(b, fromB, toB)), 0);
    const where = `line ${b.lineAt(Math.min(first.fromB, b.length)).number}`;
    return [`${count(changed, "line")} of ${name} ${changed === 1 ? "differs" : "differ"}: ${changed === 1 ? where : `the first is ${where}`}.`];
  });
  return found.join(" ") || "Both runs are of the same program.";
}

function factsOf({ run, device }: RunResults): Map<string, string> {
  const sum = (of: (kernel: KernelRecord) => number): number => run.kernels.reduce((total, one) => total + of(one), 0);
  return new Map([
    ["device", device],
    ["time", duration(run.seconds)],
    ["kernels", String(run.kernels.length)],
    ["launches", sum(({ count }) => count).toLocaleString("en-US")],
    ["bytes moved", bytes(sum(({ loaded, stored, count }) => (loaded + stored) * count))],
    ["error", run.error?.type ?? "none"],
  ]);
}

/** The facts by which two values are distinguished: type, range, mean, counts of NaN and infinity. */
function valuesOf({ dtype, shape, min, max, mean, nan = 0, inf = 0 }: TensorRecord): string {
  const type = `${dtype} ${tuple(shape)}`;
  if (max === undefined) return type;
  const odd = [nan > 0 ? `${nan} NaN` : "", inf > 0 ? `${inf} Inf` : ""].filter(Boolean);
  return [type, min === max ? short(max) : `${short(min)} … ${short(max)}`, `mean ${short(mean)}`, ...odd].join(" · ");
}

function launchesOf(kernels: readonly KernelRecord[]): Map<string, string> {
  const found = new Map<string, number>();
  for (const { name, formula, count } of kernels) {
    const key = formula ? `${formula} (${name})` : name;
    found.set(key, (found.get(key) ?? 0) + count);
  }
  return new Map([...found].map(([name, count]) => [name, `${count.toLocaleString("en-US")} ×`]));
}
