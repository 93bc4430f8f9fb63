/** The run that shown results belong to, and its description if it is not the current one. */

import { MAIN, unpack } from "./program";
import type { DeviceName, RunRecord } from "./protocol";
import type { RunOrigin, RunOrigins, View } from "./view";

/** The description of results that were recorded with the page. */
export const RECORDED = "Computed before; Run computes it here";

/** Return the origins after a program was renamed. */
export function renamed(origins: RunOrigins, from: string, to: { id: string; title: string }): RunOrigins {
  const one = (origin: RunOrigin | null): RunOrigin | null =>
    origin?.document === from ? { ...origin, document: to.id, title: to.title } : origin;
  return { output: one(origins.output), run: one(origins.run), tensors: one(origins.tensors) };
}

const DEVICES: Record<DeviceName, string> = { webgpu: "WebGPU", cpu: "the CPU" };

/** Return a short description of the run of the results; null for the current run. */
export function originNote(view: View, part: keyof RunOrigins): string | null {
  const origin = view.origins[part];
  if (!origin) return null;
  if (origin.recorded && origin.document === view.document.id) return RECORDED;
  const latest = view.origins.output;
  if (origin.run !== latest?.run) {
    return view.state === "running" ? "From the run before" : "From an earlier run";
  }
  if (part === "tensors" && origin.python !== view.python) {
    return "From before Python was restarted; run again to look inside";
  }
  if (origin.document !== view.document.id) return `From “${origin.title}”`;
  if (origin.device !== view.device) return `Computed on ${DEVICES[origin.device]}`;
  return null;
}

/** Return why the listed results are not those of the open program; null if they are. */
export function whyElsewhere({ origins: { run }, document }: View): string | null {
  if (!run || run.document === document.id) return null;
  return `These results are from “${run.title}”; open that program first.`;
}

/** A note about a run that retained its values; null for other runs. */
export function retainedNote(run: RunRecord | null): string | null {
  return run?.inside ? "This run retained every value for the panels Why?, Film and Model, which takes time and memory. Press Run for the program alone." : null;
}

/** Return why a request about the listed results is impossible; null if it is possible. */
export function whyUnavailable(view: View, part: "run" | "tensors", thing: string, what: string): string | null {
  const { output } = view.origins;
  const origin = view.origins[part];
  const again = `Run the program again to see this ${thing}’s ${what}.`;
  // A recording has only the data of the initial view.
  if (origin?.recorded) return part === "tensors" ? null : `This was computed before. ${again}`;
  if (origin?.python !== view.python) return `Python was restarted. ${again}`;
  if (origin.run === output?.run) return null;
  if (view.state === "running") return `This ${thing} is from the run before, whose values are freed.`;
  return `This ${thing} is from an earlier run. ${again}`;
}

/**
 * Map a line of a file of a run to the current text: the index of the nearest line
 * with equal text. Null if there is none.
 */
export function lineNow({ source }: RunOrigin, text: string, line: number, file = MAIN): number | null {
  const before = unpack(source).find(({ name }) => name === file)?.text.split("\n")[line - 1]?.trim();
  let nearest: number | null = null;
  text.split("\n").forEach((words, index) => {
    const distance = Math.abs(index + 1 - line);
    if (words.trim() === before && (nearest === null || distance < Math.abs(nearest - line))) nearest = index + 1;
  });
  return nearest;
}
