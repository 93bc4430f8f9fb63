/** The parts of the page that are no panels: where each stands and what mounts it. */

import type { Page, Part } from "./page/page";
import { mountDevice } from "./parts/device";
import { mountExamples } from "./parts/examples";
import { mountNetwork } from "./parts/network";
import { mountNotice } from "./parts/notice";
import { mountPrograms } from "./parts/programs";
import { mountProgress } from "./parts/progress";
import { mountRun } from "./parts/run";
import { mountStatus } from "./parts/status";
import { mountTools } from "./parts/tools";

interface Row {
  host: string;
  mount(host: HTMLElement, page: Page): Part;
}

export const PARTS: readonly Row[] = [
  { host: "#examples", mount: mountExamples },
  { host: "#document", mount: mountPrograms },
  { host: "#controls", mount: mountRun },
  { host: "#device", mount: mountDevice },
  { host: "#tools", mount: mountTools },
  { host: "#saved", mount: mountStatus },
  { host: "#progress", mount: mountProgress },
  { host: "#network", mount: mountNetwork },
  { host: "#notice", mount: mountNotice },
];
