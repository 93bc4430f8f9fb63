/** The bars of a timeline, lane by lane, and what they sum to in a range of time. */

import type { KernelRecord, TimelineFlush, TimelineRecord } from "../../page/protocol";

export type Lane = "python" | "planning" | "encoding" | "device" | "reads";

export const LANES: readonly { lane: Lane; label: string; words: string }[] = [
  { lane: "python", label: "Python", words: "everything between the others" },
  { lane: "planning", label: "Planning", words: "from the graph to kernels, or to a plan that is known" },
  { lane: "encoding", label: "Encoding", words: "buffers and commands, until they are submitted" },
  { lane: "device", label: "Device", words: "kernels" },
  { lane: "reads", label: "Reads", words: "waiting for values" },
];

/** A piece of a lane, in seconds since the run began. */
export interface Bar {
  lane: Lane;
  begin: number;
  end: number;
  /** Index of `RunRecord.kernels`; null for other lanes, and for kernels that are not listed. */
  kernel: number | null;
  launches: number;
  file: string;
  line: number | null;
  /** How the length is known: it was measured, shared out by bytes, or is the longest that it can be. */
  known: "measured" | "shared" | "most";
}

const MAIN = "main.py";

/** The bars of all lanes, each lane in order of time. */
export function barsOf(record: TimelineRecord, kernels: readonly KernelRecord[]): Bar[] {
  const bars: Bar[] = [];
  const add = (lane: Lane, begin: number, end: number, rest: Partial<Bar> = {}): void => {
    const bar: Bar = { lane, begin, end, kernel: null, launches: 0, file: MAIN, line: null, known: "measured", ...rest };
    const last = bars.at(-1);
    const isSame = last && lane === "device" && last.lane === lane && last.kernel === bar.kernel && last.end === begin;
    if (isSame) Object.assign(last, { end, launches: last.launches + bar.launches });
    else if (end > begin) bars.push(bar);
  };
  for (const flush of record.flushes) {
    const { device = "", kernels: launched = [] } = record.plans[flush.plan] ?? {};
    const where = launched.map((kernel) => lineOf(kernels, kernel)).findLast(({ line }) => line !== null) ?? lineOf(kernels, null);
    const isWaited = device === "cpu" || flush.seconds.length > 0;
    add("planning", flush.begin, flush.planned, where);
    add("encoding", flush.planned, isWaited ? flush.encoded : flush.end, where);
    if (!isWaited) continue;
    let at = flush.encoded;
    const known = flush.seconds.length ? "measured" : "shared";
    lengthsOf(flush, launched, kernels).forEach((length, index) => {
      const kernel = launched[index] ?? null;
      add("device", at, at + length, { kernel, launches: 1, ...lineOf(kernels, kernel), known });
      at += length;
    });
    if (known === "measured") add("reads", at, flush.end, where);
  }
  for (const { begin, end, file, line } of record.reads) add("reads", begin, end, { file, line });
  bars.push(...flights(record));
  const busy = bars.filter(({ known }) => known !== "most").sort((one, other) => one.begin - other.begin);
  let free = 0;
  for (const { begin, end } of busy) {
    add("python", free, begin);
    free = Math.max(free, end);
  }
  add("python", free, record.unlisted ? free : record.seconds);
  return bars.sort((one, other) => one.begin - other.begin);
}

function lineOf(kernels: readonly KernelRecord[], index: number | null): { line: number | null; file: string } {
  const { line = null, file = MAIN } = index === null ? {} : (kernels[index] ?? {});
  return { line, file };
}

/** The seconds of each launch: measured, or those of the flush by the bytes that launches move. */
function lengthsOf(flush: TimelineFlush, launched: readonly (number | null)[], kernels: readonly KernelRecord[]): readonly number[] {
  if (flush.seconds.length) return flush.seconds;
  const moved = launched.map((kernel) => {
    const { loaded = 0, stored = 0 } = kernel === null ? {} : (kernels[kernel] ?? {});
    return loaded + stored + 1;
  });
  const all = moved.reduce((sum, one) => sum + one, 0);
  return moved.map((one) => ((flush.end - flush.encoded) * one) / all);
}

/** While a GPU may compute what was submitted and not measured: until a read has its values. */
function flights({ flushes, reads, plans, seconds }: TimelineRecord): Bar[] {
  const found: Bar[] = [];
  let free = 0;
  for (const { end, seconds: measured, plan } of flushes) {
    if (measured.length || plans[plan]?.device === "cpu" || end < free) continue;
    free = reads.find(({ begin }) => begin >= end)?.end ?? seconds;
    found.push({ lane: "device", begin: end, end: free, kernel: null, launches: 0, file: MAIN, line: null, known: "most" });
  }
  return found;
}

export interface Range {
  from: number;
  to: number;
}

export interface Sums {
  lanes: Record<Lane, number>;
  /** By index of the kernel. */
  kernels: Map<number, { seconds: number; launches: number; isMeasured: boolean }>;
}

/** What the parts of the bars inside a range sum to. */
export function sumsOf(bars: readonly Bar[], { from, to }: Range): Sums {
  const lanes: Record<Lane, number> = { python: 0, planning: 0, encoding: 0, device: 0, reads: 0 };
  const kernels: Sums["kernels"] = new Map();
  for (const { lane, begin, end, kernel, launches, known } of bars) {
    const seconds = Math.min(end, to) - Math.max(begin, from);
    if (seconds <= 0) continue;
    lanes[lane] += seconds;
    if (kernel === null) continue;
    const sum = kernels.get(kernel) ?? { seconds: 0, launches: 0, isMeasured: known === "measured" };
    kernels.set(kernel, sum);
    sum.seconds += seconds;
    sum.launches += (launches * seconds) / (end - begin);
  }
  return { lanes, kernels };
}

/** Operations in a second by kernel; launches for one result count together, since its operations are those of the first. */
export function speedsOf({ flushes, plans }: TimelineRecord, kernels: readonly KernelRecord[]): Map<number, number> {
  const spent = new Map<number, { flops: number; seconds: number }>();
  for (const { plan, seconds } of flushes) {
    const { kernels: launched = [], results = [] } = plans[plan] ?? {};
    const sums = new Map<number, { flops: number; seconds: number }>();
    seconds.forEach((length, index) => {
      const sum = sums.get(results[index] ?? -1) ?? { flops: 0, seconds: 0 };
      sums.set(results[index] ?? -1, sum);
      sum.flops += kernels[launched[index] ?? -1]?.flops ?? 0;
      sum.seconds += length;
    });
    launched.forEach((kernel, index) => {
      const sum = sums.get(results[index] ?? -1);
      if (kernel === null || !sum) return;
      const own = spent.get(kernel) ?? { flops: 0, seconds: 0 };
      spent.set(kernel, { flops: own.flops + sum.flops, seconds: own.seconds + sum.seconds });
    });
  }
  return new Map([...spent].map(([kernel, { flops, seconds }]) => [kernel, seconds ? flops / seconds : 0]));
}
