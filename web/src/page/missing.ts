/** Describes features that this browser lacks, and the fallback. */

import type { Notice } from "./page";
import type { Started } from "./messages";
import type { DeviceName } from "./protocol";

/** Return null where nothing is missing. */
export function whatIsMissing(started: Started, device: DeviceName): Notice | null {
  if (!started.adapter) {
    return {
      kind: "info",
      text: `${started.reason} The CPU computes instead: everything works, large work takes longer.`,
    };
  }
  if (!started.blocking) {
    return {
      kind: "info",
      text: "This browser cannot wait for the GPU inside Python, so the CPU computes. With WebGPU, write “await x.tolist_async()” to see values.",
    };
  }
  if (started.emulated && device === "cpu") {
    return {
      kind: "info",
      text: `WebGPU is ${started.adapter} here, which computes on the CPU: device CPU is faster and chosen; WebGPU is in the list beside it.`,
    };
  }
  return null;
}
