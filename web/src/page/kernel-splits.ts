/** Why kernels of a run are several: one request for each run, and its sentences. */

import { el } from "../parts/dom";
import { bytes } from "../parts/format";
import { hueOf } from "./line-results";
import type { Page } from "./page";
import type { KernelSplit, RunRecord } from "./protocol";
import { whyUnavailable } from "./run-origin";

const known = new WeakMap<RunRecord, Promise<KernelSplit[]>>();

/** Return what kernels of the run write for others; reject with the reason if that is unknown. */
export async function kernelSplits(page: Page): Promise<KernelSplit[]> {
  const { run } = page.view;
  if (!run) return [];
  const reason = whyUnavailable(page.view, "run", "run", "reasons for its kernels");
  if (reason !== null) throw new Error(reason);
  const found = known.get(run) ?? page.request("splits", {});
  known.set(run, found);
  found.catch(() => known.delete(run));
  return found;
}

/** One sentence for a value between two kernels: the value, its bytes, the rule. */
export function splitLine({ writer, reader, value, written, read, why }: KernelSplit): HTMLElement {
  const name = (kernel: number): HTMLElement => el("span", { class: `kernel-name ${hueOf(kernel)}` }, `k${kernel + 1}`);
  const cost = `, ${value}: ${bytes(written)} written, ${bytes(read)} read. `;
  return el("p", { class: "kernel-split" }, name(writer), " → ", name(reader), cost, why);
}
