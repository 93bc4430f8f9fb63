/** What differs between two runs: tensors by name, kernels by name and size, costs. */

import { bytes, duration, short, tuple } from "../../parts/format";
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
  return { facts: between(...facts), tensors: differing, equal: new Set([...tensors[0].keys(), ...tensors[1].keys()]).size - differing.length, kernels: between(...kernels) };
}

function between(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Difference[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name)).map((name) => ({ name, before: before.get(name) ?? null, now: now.get(name) ?? null }));
}

function factsOf({ run, device, source }: RunResults): Map<string, string> {
  const sum = (of: (kernel: KernelRecord) => number): number => run.kernels.reduce((total, one) => total + of(one), 0);
  const lines = source.trimEnd().split("\n").length;
  return new Map([
    ["device", device],
    ["time", duration(run.seconds)],
    ["lines", String(lines)],
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
