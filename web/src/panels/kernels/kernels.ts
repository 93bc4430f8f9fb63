/** Every kernel that the run launched: its name in words, its grid, its source. */

import { el } from "../../parts/dom";
import { bytes, count } from "../../parts/format";
import type { Page, Part } from "../../page/page";
import type { KernelRecord, RunRecord } from "../../page/protocol";
import { originNote, whyGone } from "../../page/origin";
import { messageOf } from "../../page/session";
import { coloured } from "./colouring";
import "./kernels.css";

/** What people call a device, what its kernels are written in, how work is divided. */
interface Device {
  name: string;
  language: string;
  work(grid: readonly number[]): string;
}

const DEVICES: Readonly<Record<string, Device>> = {
  webgpu: { name: "WebGPU", language: "wgsl", work: (grid) => `${grid.join(" × ")} workgroups` },
  cpu: { name: "CPU", language: "wasm", work: units },
};

/** As `units` in `tensorweb/backends/wasm.py` says it. */
function units([all = 1, together = all]: readonly number[]): string {
  const text = count(all, "unit");
  return all > together ? `${text}, ${together.toLocaleString("en-US")} at a time` : text;
}

export function mountKernels(host: HTMLElement, page: Page): Part {
  const summary = el("p", { class: "kernel-summary" });
  const list = el("ol", { class: "kernel-list" });
  const empty = el("p", { class: "empty" }, "Kernels that the device runs appear here, each with its source.");
  host.append(summary, empty, list);
  let drawn: RunRecord | null = null;
  const redraw = (run: RunRecord | null): void => {
    const kernels = run?.kernels ?? [];
    const launches = kernels.reduce((sum, kernel) => sum + kernel.count, 0);
    empty.hidden = kernels.length > 0;
    summary.hidden = kernels.length === 0;
    const left = run?.kernelsLeftOut ?? 0;
    const all = `${count(kernels.length, "kernel")}, ${count(launches, "launch", "launches")}`;
    summary.textContent = left ? `${all}; ${kernels.length} of ${kernels.length + left} kernels are listed` : all;
    list.replaceChildren(...kernels.map((kernel, place) => item(page, kernel, place)));
  };
  return {
    update: (view) => {
      if (view.run === drawn && drawn) return;
      drawn = view.run;
      redraw(view.run);
    },
    originNote: (view) => (view.run?.kernels.length ? originNote(view, "run") : null),
  };
}

function item(page: Page, kernel: KernelRecord, place: number): HTMLLIElement {
  const device = DEVICES[kernel.device];
  const facts = [
    kernel.kind,
    device?.name,
    device?.work(kernel.grid),
    count(kernel.buffers, "buffer"),
    kernel.bytes ? bytes(kernel.bytes) : "",
    kernel.count > 1 ? `launched ${kernel.count.toLocaleString("en-US")} times` : "",
  ].filter(Boolean);
  const source = el("pre", { class: "kernel-source", tabindex: 0, role: "region", "aria-label": `Source of ${kernel.name}` });
  const details = el(
    "details",
    { class: "kernel" },
    el(
      "summary",
      {},
      el("strong", {}, kernel.name),
      el("span", { class: "kernel-facts" }, facts.join(" · ")),
    ),
    source,
  );
  let isShown = false;
  const show = async (): Promise<void> => {
    if (isShown) return;
    const gone = whyGone(page.view, "run", "kernel", "source");
    if (gone !== null) {
      source.textContent = gone;
      return;
    }
    try {
      const { text } = await page.ask("source", { kernel: place });
      source.replaceChildren(...coloured(text, device?.language ?? ""));
      isShown = true;
    } catch (error) {
      source.textContent = messageOf(error);
    }
  };
  details.addEventListener("toggle", () => {
    if (details.open) void show();
  });
  return el("li", {}, details);
}
