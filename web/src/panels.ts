/** The panels: a row for each tab, in the order of the tabs. */

import { lazily } from "./page/lazy-panel";
import type { Panel } from "./page/page";
import { mountCompare } from "./panels/compare/compare";
import { mountEditor } from "./panels/editor/editor";
import { mountFiles } from "./panels/files/files";
import { mountKernels } from "./panels/kernels/kernels";
import { mountMemory } from "./panels/memory/memory";
import { mountOutput } from "./panels/output/output";
import { mountTensors } from "./panels/tensors/tensors";
import { mountTimeline } from "./panels/timeline/timeline";
// A script that is loaded later brings no style sheets.
import "./panels/film/film.css";
import "./panels/model/model.css";
import "./panels/why/alignment.css";
import "./panels/why/lit-picture.css";
import "./panels/why/why.css";

export const PANELS: readonly Panel[] = [
  { id: "editor", label: "Code", pane: "program", mount: mountEditor },
  { id: "output", label: "Output", pane: "program", mount: mountOutput },
  { id: "tensors", label: "Tensors", pane: "results", mount: mountTensors },
  { id: "why", label: "Why?", pane: "results", mount: lazily(async () => (await import("./panels/why/why")).mountWhy) },
  { id: "film", label: "Film", pane: "results", mount: lazily(async () => (await import("./panels/film/film")).mountFilm) },
  { id: "model", label: "Model", pane: "results", mount: lazily(async () => (await import("./panels/model/model")).mountModel) },
  { id: "kernels", label: "Kernels", pane: "results", mount: mountKernels },
  { id: "timeline", label: "Timeline", pane: "results", mount: mountTimeline },
  { id: "memory", label: "Memory", pane: "results", mount: mountMemory },
  { id: "files", label: "Files", pane: "results", mount: mountFiles },
  { id: "compare", label: "Compare", pane: "results", mount: mountCompare },
];
