/** The parts of the page outside the panels: the element and the mount function of each. */

import type { Page } from "./page/page";
import { mountDevice } from "./parts/device";
import { mountExamples } from "./parts/examples";
import { mountIntro } from "./parts/intro";
import { mountNetwork } from "./parts/network";
import { mountNotice } from "./parts/notice";
import { mountPrograms } from "./parts/programs";
import { mountProgress } from "./parts/progress";
import { mountRun } from "./parts/run";
import { mountStatus } from "./parts/status";
import { mountToolbar } from "./parts/toolbar";
import { mountTools } from "./parts/tools";
import { mountVersion } from "./parts/version";
import type { Part } from "./page/view";

interface PartEntry {
  host: string;
  mount(host: HTMLElement, page: Page): Part;
}

export const PARTS: readonly PartEntry[] = [
  { host: "#examples", mount: mountExamples },
  { host: "#document", mount: mountPrograms },
  { host: "#controls", mount: mountRun },
  { host: "#device", mount: mountDevice },
  { host: "#tools", mount: mountTools },
  // After the parts that it contains.
  { host: "#toolbar", mount: mountToolbar },
  { host: "#intro", mount: mountIntro },
  { host: "#saved", mount: mountStatus },
  { host: "#progress", mount: mountProgress },
  { host: "#network", mount: mountNetwork },
  { host: "#notice", mount: mountNotice },
  { host: "#version", mount: mountVersion },
];
