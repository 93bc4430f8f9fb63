/** The panels: a row for each tab, in the order of the tabs. */

import type { Panel } from "./page/page";
import { mountCompare } from "./panels/compare/compare";
import { mountEditor } from "./panels/editor/editor";
import { mountFilm } from "./panels/film/film";
import { mountFiles } from "./panels/files/files";
import { mountKernels } from "./panels/kernels/kernels";
import { mountMemory } from "./panels/memory/memory";
import { mountModel } from "./panels/model/model";
import { mountOutput } from "./panels/output/output";
import { mountTensors } from "./panels/tensors/tensors";
import { mountTimeline } from "./panels/timeline/timeline";
import { mountWhy } from "./panels/why/why";

export const PANELS: readonly Panel[] = [
  { id: "editor", label: "Code", pane: "program", mount: mountEditor },
  { id: "output", label: "Output", pane: "program", mount: mountOutput },
  { id: "tensors", label: "Tensors", pane: "results", mount: mountTensors },
  { id: "why", label: "Why?", pane: "results", mount: mountWhy },
  { id: "film", label: "Film", pane: "results", mount: mountFilm },
  { id: "model", label: "Model", pane: "results", mount: mountModel },
  { id: "kernels", label: "Kernels", pane: "results", mount: mountKernels },
  { id: "timeline", label: "Timeline", pane: "results", mount: mountTimeline },
  { id: "memory", label: "Memory", pane: "results", mount: mountMemory },
  { id: "files", label: "Files", pane: "results", mount: mountFiles },
  { id: "compare", label: "Compare", pane: "results", mount: mountCompare },
];
