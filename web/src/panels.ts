/** The parts of the page: where each stands and the function that mounts it. */

import type { Page, Part } from "./page/page";
import { mountBelongs } from "./parts/belongs";
import { mountDevice } from "./parts/device";
import { mountEditor } from "./parts/editor";
import { mountExamples } from "./parts/examples";
import { mountKernels } from "./panels/kernels/kernels";
import { mountLayout } from "./parts/layout";
import { mountNetwork } from "./parts/network";
import { mountNotice } from "./parts/notice";
import { mountOutput } from "./parts/output";
import { mountProgress } from "./parts/progress";
import { mountRun } from "./parts/run";
import { mountTensors } from "./panels/tensors/tensors";
import { mountTools } from "./parts/tools";

export interface Panel {
  host: string;
  mount(host: HTMLElement, page: Page): Part;
}

export const PANELS: readonly Panel[] = [
  { host: "body", mount: mountLayout },
  { host: "#editor", mount: mountEditor },
  { host: "#examples", mount: mountExamples },
  { host: "#controls", mount: mountRun },
  { host: "#device", mount: mountDevice },
  { host: "#tools", mount: mountTools },
  { host: "#progress", mount: mountProgress },
  { host: "#network", mount: mountNetwork },
  { host: "#notice", mount: mountNotice },
  { host: "#output", mount: mountOutput },
  { host: "#tensors", mount: mountTensors },
  { host: "#kernels", mount: mountKernels },
  { host: "#belongs", mount: mountBelongs },
];
