/** The walk of a reader through the results of a program, and its text as a lesson. */

import { tuple } from "../parts/format";
import type { TensorRecord } from "./protocol";
import type { Looked } from "./sharing";
import type { View } from "./view";

/** One step: what was looked at, in words, and sufficient for a link to it. */
export interface Step {
  text: string;
  looked: Looked;
  /** Steps of one kind that follow each other are one: a slider passes many. */
  kind: string;
}

const MOST_STEPS = 40;
/** The panel that every run shows first. */
const START = "tensors";

/** Return the walk with what the reader looks at now; the same walk if it is nothing new. */
export function walked(steps: readonly Step[], view: View, labelOf: (panel: string) => string): readonly Step[] {
  const { result, tensor, viewSettings, focus } = view;
  const [kind, text] = described(view, labelOf(result));
  const last = steps.at(-1);
  // A walk begins with the reader's first choice; a panel that shows less than before is no step.
  if (last?.text === text || (kind === "panel" && (last?.looked.result ?? START) === result)) return steps;
  const step = { text, kind, looked: { result, tensor, viewSettings, focus } };
  const isSame = last && (last.kind === kind || (last.kind === "panel" && last.looked.result === result));
  const before = isSame ? steps.slice(0, -1) : steps;
  return [...before, step].slice(-MOST_STEPS);
}

/** The kind of what is looked at, and its description as a sentence of a lesson. */
function described({ result, tensor, tensors, focus, viewSettings }: View, label: string): [string, string] {
  const cell = focus?.why.at(-1);
  if (result === "why" && cell) {
    const name = cell.index.length ? `${cell.name}[${cell.index.join(", ")}]` : cell.name;
    const where = cell.line === null ? "" : `; line ${cell.line} made it`;
    return [`why ${name}`, `Ask why ${code(name)} is ${code(cell.value)}${where}.`];
  }
  if (result === "film" && focus?.film) return ["film", `Look at step ${focus.film.step} of ${code(focus.film.name)} in the panel *${label}*.`];
  if (result === "kernels" && focus?.kernel) return ["kernel", `Read kernel ${focus.kernel.kernel + 1}, ${code(focus.kernel.name)}.`];
  if (result === "timeline" && focus?.range) {
    const [from, to] = [focus.range.from, focus.range.to].map((part) => Math.round(100 * part));
    return ["range", `Select the time from ${from} % to ${to} % of the run in the panel *${label}*.`];
  }
  if (result === "memory" && focus?.memory) return ["memory", `Look at kernel ${focus.memory.step + 1} in the panel *${label}*.`];
  const chosen = tensors.find(({ name }) => name === tensor);
  if (result === "tensors" && chosen) return [`tensor ${tensor} ${viewSettings?.mode ?? ""}`, tensorText(chosen, viewSettings)];
  return ["panel", `Open the panel *${label}*.`];
}

function tensorText({ name, dtype, shape }: TensorRecord, settings: View["viewSettings"]): string {
  const modes: Record<string, string> = { table: " as a table", layout: " with its layout" };
  const slice = settings && shape.length > 2 ? `, slice ${tuple(settings.index)}` : "";
  return `Look at ${code(name)}, ${dtype} ${tuple(shape)}${modes[settings?.mode ?? ""] ?? ""}${slice}.`;
}

/** Text as code of Markdown, whatever it contains. */
function code(text: string): string {
  // Code of no character would be a fence of the text after it.
  const plain = text.replace(/\s+/g, " ") || " ";
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest ? `${fence} ${plain} ${fence}` : `\`${plain}\``;
}

/** The lesson in Markdown: a title, a link to the program, and numbered steps with links. */
export function lesson(title: string, program: string, steps: readonly { text: string; link: string }[]): string {
  const name = title.replace(/[\\`*_[\]<>#]/g, "\\$&").replace(/\s+/g, " ").trim();
  const begin = `Open [the program](${program}), read it, and press Run.`;
  const items = steps.map(({ text, link }, index) => `${index + 1}. ${text} [Show](${link})`);
  return [`# ${name}`, begin, ...(items.length ? [items.join("\n")] : [])].join("\n\n") + "\n";
}
