/** One tensor looked into: axes to choose, heat map, histogram and a table of values. */

import { el } from "../../parts/dom";
import { tuple } from "../../parts/format";
import { decodeHeatmap } from "./heatmap";
import type { Page } from "../../page/page";
import type { Pooling, Slice, TensorRecord } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { schemeOf, type Scheme } from "../../page/media";
import { mountAxes } from "./axes";
import { mountCanvas } from "./heatmap-view";
import { mountHistogram } from "./histogram";
import { mountTable } from "./table";

export interface Viewer {
  show(tensor: TensorRecord): Promise<void>;
  clear(): void;
  recolour(scheme: Scheme): void;
}

const POOLINGS: readonly { name: Pooling; label: string }[] = [
  { name: "mean", label: "mean of each block" },
  { name: "extreme", label: "value farthest from zero" },
  { name: "corner", label: "first rows and columns" },
];

export function mountViewer(host: HTMLElement, page: Page): Viewer {
  const title = el("h2", { class: "viewer-title" });
  const facts = el("p", { class: "viewer-facts" });
  const axes = mountAxes(() => void refresh());
  const options = POOLINGS.map(({ name, label }) => el("option", { value: name }, label));
  const pooling = el("select", {}, ...options);
  const poolingLabel = el("label", { class: "field" }, "Show the ", pooling);
  pooling.addEventListener("change", () => void refresh());
  const problem = el("p", { class: "viewer-problem", role: "status" });
  const canvas = mountCanvas();
  const histogram = mountHistogram();
  const table = mountTable(page);
  const body = el("div", { class: "viewer-body" }, canvas.dom, histogram.dom, table.dom);
  const choices = el("div", { class: "choices" }, axes.dom, poolingLabel);
  host.append(title, facts, choices, problem, body);
  const panel = host.parentElement ?? host;
  let tensor: TensorRecord | null = null;
  let generation = 0;

  /** Ask for everything of the slice; an answer that comes too late is dropped. */
  const refresh = async (isNew = false): Promise<void> => {
    if (!tensor) return;
    const mine = ++generation;
    const shown = tensor;
    const slice: Slice = { tensor: shown.id, ...axes.chosen() };
    panel.dataset["view"] = "loading";
    try {
      const how = pooling.value as Pooling;
      const map = await page.ask("heatmap", { ...slice, how });
      if (mine !== generation) return;
      problem.textContent = shown.size === 0 ? "This tensor has no elements." : "";
      poolingLabel.hidden = map.how === "each";
      canvas.show(decodeHeatmap(map, schemeOf(page.view)), slice, shown);
      if (isNew && isCounted(shown)) histogram.expect();
      await table.show(slice, map.fullRows, map.fullColumns);
      if (mine === generation) panel.dataset["view"] = "ready";
    } catch (error) {
      if (mine !== generation) return;
      problem.textContent = messageOf(error);
      panel.dataset["view"] = "error";
    }
  };
  const count = async (shown: TensorRecord): Promise<void> => {
    try {
      const bars = await page.ask("histogram", { tensor: shown.id });
      if (tensor === shown) histogram.show(bars);
    } catch {
      // The heat map's own failure is shown; a missing histogram needs no second line.
      if (tensor === shown) histogram.clear();
    }
  };
  return {
    show: async (next) => {
      tensor = next;
      title.textContent = next.name;
      facts.textContent = factsOf(next);
      axes.show(next.shape);
      table.clear();
      if (next.problem) {
        problem.textContent = next.problem;
        canvas.clear();
        histogram.clear();
        panel.dataset["view"] = "error";
        return;
      }
      if (!isCounted(next)) histogram.clear();
      await refresh(true);
      if (isCounted(next)) await count(next);
    },
    clear: () => {
      tensor = null;
      generation++;
      panel.dataset["view"] = "empty";
    },
    recolour: (scheme) => canvas.recolour(scheme),
  };
}

/** Whether the values of a tensor can be counted in a histogram. */
function isCounted({ size, min }: TensorRecord): boolean {
  return size > 1 && min !== undefined && min !== null;
}

function factsOf(tensor: TensorRecord): string {
  const parts = [
    `${tensor.dtype} ${tuple(tensor.shape)}`,
    `on ${tensor.device}`,
    `strides ${tuple(tensor.strides)}`,
    `offset ${tensor.offset}`,
    tensor.contiguous ? "contiguous" : "not contiguous",
  ];
  if (tensor.viewOf) parts.push(`shares memory with ${tensor.viewOf}`);
  return parts.join(" · ");
}
