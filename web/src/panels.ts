/** The panels: a row for each tab, in the order of the tabs. */

import type { Page, Panel } from "./page/page";
import { messageOf } from "./page/session";
import type { Part } from "./page/view";
import { mountEditor } from "./panels/editor/editor";
import { mountFiles } from "./panels/files/files";
import { mountOutput } from "./panels/output/output";
import { mountTensors } from "./panels/tensors/tensors";
import { el } from "./parts/dom";

type Mount = Panel["mount"];

export const PANELS: readonly Panel[] = [
  { id: "editor", label: "Code", pane: "program", mount: mountEditor },
  { id: "output", label: "Output", pane: "program", mount: mountOutput },
  { id: "tensors", label: "Tensors", pane: "results", mount: mountTensors },
  { id: "why", label: "Why?", pane: "results", mount: later(async () => (await import("./panels/why/why")).mountWhy, "why") },
  { id: "film", label: "Film", pane: "results", mount: later(async () => (await import("./panels/film/film")).mountFilm, "film") },
  { id: "model", label: "Model", pane: "results", mount: later(async () => (await import("./panels/model/model")).mountModel) },
  { id: "kernels", label: "Kernels", pane: "results", mount: later(async () => (await import("./panels/kernels/kernels")).mountKernels) },
  { id: "timeline", label: "Timeline", pane: "results", mount: later(async () => (await import("./panels/timeline/timeline")).mountTimeline) },
  { id: "memory", label: "Memory", pane: "results", mount: later(async () => (await import("./panels/memory/memory")).mountMemory) },
  { id: "files", label: "Files", pane: "results", mount: mountFiles },
  { id: "compare", label: "Compare", pane: "results", mount: later(async () => (await import("./panels/compare/compare")).mountCompare) },
];

/**
 * A panel whose script is loaded when the reader first looks at it, or asks it something;
 * `question` is the part's method that asks.
 */
function later(load: () => Promise<Mount>, question?: "why" | "film"): Mount {
  return (host: HTMLElement, page: Page): Part => {
    let part: Part | null = null;
    let loading: Promise<Part | null> | null = null;
    let cursor: [number, number] | null = null;
    const mounted = async (): Promise<Part | null> => {
      try {
        part = (await load())(host, page);
        if (cursor) part.cursorMoved?.(...cursor);
      } catch (error) {
        // Browsers remember a script that failed: asking again would not fetch it.
        host.append(el("p", { class: "empty", role: "alert" }, `This panel could not be loaded (${messageOf(error)}). Reload the page to try again.`));
      }
      return part;
    };
    const ask = (what: (part: Part) => void): void => {
      if (part) what(part);
      else void (loading ??= mounted()).then((now) => now && what(now));
    };
    const own: Part = {
      update: () => ask((now) => now.update(page.view)),
      cursorMoved: (line, column) => {
        cursor = [line, column];
        part?.cursorMoved?.(line, column);
      },
      linePointed: (line, column) => part?.linePointed?.(line, column),
      originNote: (view) => part?.originNote?.(view) ?? null,
    };
    if (question === "why") own.why = (cell) => ask((now) => now.why?.(cell));
    if (question === "film") own.film = (result) => ask((now) => now.film?.(result));
    return own;
  };
}
