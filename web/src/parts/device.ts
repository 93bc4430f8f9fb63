/** The current device, always visible, and the switch between GPU and CPU. */

import { el } from "./dom";
import type { Page } from "../page/page";
import type { DeviceName } from "../page/protocol";
import type { Part, View } from "../page/view";

export function mountDevice(host: HTMLElement, page: Page): Part {
  const webgpu = el("option", { value: "webgpu" }, "WebGPU");
  const cpu = el("option", { value: "cpu" }, "CPU");
  const select = el("select", { "aria-label": "Device that computes" }, webgpu, cpu);
  const name = el("span", { class: "device-name" });
  const dot = el("span", { class: "device-dot", "aria-hidden": "true" });
  select.addEventListener("change", () => page.setDevice(select.value as DeviceName));
  host.append(name, dot, select);
  return {
    update: (view) => {
      const { started, device } = view;
      host.dataset["device"] = started ? device : "";
      name.textContent = nameOf(view);
      host.title = name.textContent + (started?.emulated ? EMULATED : "");
      select.value = device;
      select.disabled = !started || view.state === "running";
      webgpu.disabled = started !== null && !started.adapter;
    },
  };
}

const EMULATED = ". WebGPU computes on the CPU here, slower than device CPU.";

/** The name of the adapter or device in use. */
export function nameOf({ started, device }: View): string {
  if (!started) return "Device";
  if (device === "webgpu") return started.adapter ?? "WebGPU";
  return "WebAssembly";
}
