/** Every kernel that the run launched: its name in words, its grid, its WGSL. */

import { el } from "../../parts/dom";
import { bytes, count } from "../../parts/format";
import type { Page, Part } from "../../page/page";
import type { KernelRecord, RunRecord } from "../../page/protocol";
import { originNote } from "../../page/origin";
import { colourWgsl } from "./wgsl";
import "./kernels.css";

export function mountKernels(host: HTMLElement, _page: Page): Part {
  const summary = el("p", { class: "kernel-summary" });
  const list = el("ol", { class: "kernel-list" });
  const empty = el("p", { class: "empty" });
  host.append(summary, empty, list);
  let drawn: RunRecord | null = null;
  const redraw = (run: RunRecord | null, device: string): void => {
    const kernels = run?.kernels ?? [];
    const launches = kernels.reduce((sum, kernel) => sum + kernel.count, 0);
    empty.hidden = kernels.length > 0;
    empty.textContent =
      run && device === "cpu"
        ? "NumPy computed this run, so there are no kernels; choose WebGPU to see them."
        : "Kernels that the GPU runs appear here, each with its source.";
    summary.hidden = kernels.length === 0;
    const left = run?.kernelsLeftOut ?? 0;
    const all = `${count(kernels.length, "kernel")}, ${count(launches, "launch", "launches")}`;
    summary.textContent = left ? `${all}; ${kernels.length} of ${kernels.length + left} kernels are listed` : all;
    list.replaceChildren(...kernels.map(item));
  };
  return {
    update: (view) => {
      if (view.run === drawn && drawn) return;
      drawn = view.run;
      redraw(view.run, view.device);
    },
    originNote: (view) => (view.run?.kernels.length ? originNote(view, "run") : null),
  };
}

function item(kernel: KernelRecord): HTMLLIElement {
  const facts = [
    kernel.kind,
    `${kernel.grid.join(" × ")} workgroups`,
    count(kernel.buffers, "buffer"),
    kernel.bytes ? bytes(kernel.bytes) : "",
    kernel.count > 1 ? `launched ${kernel.count.toLocaleString("en-US")} times` : "",
  ].filter(Boolean);
  const source = el("pre", { class: "wgsl", tabindex: 0, role: "region", "aria-label": `Source of ${kernel.name}` });
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
  details.addEventListener("toggle", () => {
    if (details.open && !source.hasChildNodes()) source.append(...colourWgsl(kernel.source));
  });
  return el("li", {}, details);
}
