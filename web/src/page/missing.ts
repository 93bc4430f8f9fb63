/** Says in plain words what this browser cannot do and what happens instead. */

import type { Started } from "./protocol";

/** Return null where nothing is missing. */
export function whatIsMissing(started: Started): string | null {
  if (!started.adapter && !started.numpy) {
    return `${started.reason} NumPy is not on this site either, so plain Python runs and tensors do not. Use a current Chrome, Edge, Safari or Firefox with WebGPU, or build the site with a NumPy wheel (build.py site --wheels).`;
  }
  if (!started.adapter) {
    return `${started.reason} Everything works, computed on the CPU by NumPy. For the GPU use a current Chrome, Edge, Safari or Firefox.`;
  }
  if (!started.blocking) {
    return "This browser cannot wait for the GPU inside Python: write “await x.tolist_async()” to see values, or choose the CPU.";
  }
  return null;
}
