/** How the nodes of a flush became kernels: four stages, each with what changed from the one before. */

import { button, el } from "../../parts/dom";
import { count } from "../../parts/format";
import { lineLink } from "../../parts/line-link";
import { hueOf } from "../../page/line-results";
import type { Page } from "../../page/page";
import type { KernelRecord, KernelSource, Span, StageKernel, StageNode, Stages, StageStep } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { textOf } from "./source";

interface Stage {
  name: string;
  note: string;
  draw(): HTMLElement[] | Promise<HTMLElement[]>;
}

/** What became of an entry: its sign, and what it says to readers who do not see colours. */
type Change = "added" | "removed" | "merged" | "";

const SIGNS: Record<Change, string> = { added: "+", removed: "−", merged: "≈", "": "" };

const LOSSES: Record<StageKernel["lost"][number]["why"], [Change, string]> = {
  view: ["removed", "a view: its strides are those of the loads below"],
  copy: ["removed", "a copy: what it copies is read directly"],
  equal: ["merged", "an equal step is used"],
};

/** Show the stages of the flush of a kernel of the run. */
export function mountStages(page: Page, found: Stages): HTMLElement {
  const kernels = page.view.run?.kernels ?? [];
  const program = page.view.origins.run?.source ?? "";
  const nodes = new Map(found.nodes.map((node) => [node.node, node]));
  const sources = new Map<number, Promise<KernelSource>>();
  const sourceOf = (kernel: number): Promise<KernelSource> => {
    const source = sources.get(kernel) ?? page.request("source", { kernel });
    sources.set(kernel, source);
    return source;
  };
  const where = (span: Span | null): (Node | string)[] => (span ? [el("code", { class: "stage-text" }, textOf(span, program)), " ", lineLink(page, span)] : []);
  const entry = (change: Change, label: string, text: string, span: Span | null, note = ""): HTMLElement => {
    const sign = el("span", { class: "stage-sign", "aria-hidden": true }, SIGNS[change]);
    const word = change ? el("span", { class: "visually-hidden" }, `${change}: `) : null;
    return el("li", { class: change ? `stage-${change}` : "" }, sign, word, el("code", {}, label), " ", el("code", {}, text), note ? el("span", { class: "stage-note" }, ` ${note}`) : null, " ", ...where(span));
  };
  const nodeEntry = (node: StageNode, change: Change = "", note = ""): HTMLElement => entry(change, `n${node.node}`, callOf(node), node.span, [node.value, note].filter(Boolean).join(", "));
  const list = (label: string, ...entries: HTMLElement[]): HTMLElement => el("ol", { class: "stage-list", "aria-label": label }, ...entries);
  const group = (kernel: number, ...parts: HTMLElement[]): HTMLElement => {
    const name = el("span", { class: "kernel-name" }, `k${kernel + 1}`);
    return el("section", { class: `stage-kernel ${hueOf(kernel)}` }, el("p", { class: "stage-heading" }, name, " ", titleOf(kernels[kernel])), ...parts);
  };
  const known = (numbers: readonly number[]): StageNode[] => numbers.flatMap((number) => nodes.get(number) ?? []);

  const drawNodes = (): HTMLElement[] => {
    const entries = found.nodes.map((node) => {
      const dom = nodeEntry(node);
      const of = found.kernels.find(({ nodes: own }) => own.includes(node.node));
      dom.classList.add("stage-kernel", of ? hueOf(of.kernel) : "stage-none");
      return dom;
    });
    return [list("Nodes", ...entries)];
  };
  const drawKernels = (): HTMLElement[] => {
    const seen = new Set<number>();
    const groups = found.kernels.map(({ kernel, nodes: own, outputs }) => {
      const entries = known(own).map((node) => {
        const isAgain = seen.has(node.node);
        seen.add(node.node);
        const notes = [isAgain ? "computed here as well" : "", outputs.includes(node.node) ? "stored" : ""];
        return nodeEntry(node, isAgain ? "added" : "", notes.filter(Boolean).join(", "));
      });
      return group(kernel, list(`Nodes of kernel ${kernel + 1}`, ...entries));
    });
    const left = found.nodes.filter(({ node }) => !seen.has(node)).map((node) => nodeEntry(node, "removed", node.op === "leaf" ? "is there already" : "in no kernel"));
    return [...groups, ...(left.length > 0 ? [el("section", { class: "stage-kernel stage-none" }, el("p", { class: "stage-heading" }, "In no kernel"), list("Nodes in no kernel", ...left))] : [])];
  };
  const stepEntry = ({ name, text, node }: StageStep, own: ReadonlySet<number>): HTMLElement => {
    const of = node === null ? undefined : nodes.get(node);
    // A value that another kernel or an earlier flush stored is loaded.
    const isLoad = node !== null && !own.has(node);
    const note = of ? `${isLoad ? "loads" : "is"} n${of.node} ${of.op}` : "";
    return entry(node === null || isLoad ? "added" : "", `${name} =`, text, of?.span ?? null, note);
  };
  const drawSteps = (): HTMLElement[] =>
    found.kernels.map(({ kernel, nodes: own, expressions, lost }) => {
      const inside = new Set(own);
      const lists = expressions.map(({ name, axes, steps }) => el("div", {}, el("p", { class: "stage-note" }, el("code", {}, name), axes ? ` for each ${axes}` : ""), list(`Steps of ${name}`, ...steps.map((step) => stepEntry(step, inside)))));
      const unseen = lost.flatMap(({ node, why }) => {
        const of = nodes.get(node);
        const [change, note] = LOSSES[why];
        return of ? [nodeEntry(of, change, note)] : [];
      });
      return group(kernel, ...(unseen.length > 0 ? [list("Nodes without a step", ...unseen)] : []), ...lists);
    });
  const drawText = async (): Promise<HTMLElement[]> => {
    const texts = await Promise.all(found.kernels.map(({ kernel }) => sourceOf(kernel)));
    return found.kernels.map(({ kernel }, at) => {
      const { text = "", lines = [] } = texts[at] ?? {};
      const rows = text.split("\n").map((row, index) => {
        const piece = lines.find(({ first, last }) => first <= index && index <= last);
        const isFirst = piece?.first === index;
        const [span] = piece?.spans ?? [];
        const change = row.trim() === "" || span ? "" : "added";
        return el("li", { class: change ? "stage-added" : "" }, el("span", { class: "stage-sign", "aria-hidden": true }, SIGNS[change]), el("code", {}, row), " ", isFirst && span ? lineLink(page, span) : null);
      });
      return group(kernel, el("ol", { class: "stage-list stage-source", tabindex: 0, "aria-label": `Text of kernel ${kernel + 1}` }, ...rows));
    });
  };
  const isWgsl = kernels[found.kernels[0]?.kernel ?? 0]?.device !== "cpu";
  const stages: Stage[] = [
    { name: "Nodes", note: "What the program built, in order of computation, in the colours of the kernels that will compute it.", draw: drawNodes },
    { name: "Kernels", note: "Fusion divides the nodes. A cheap node is computed again (+) where a second kernel needs it; values that exist already are in no kernel (−).", draw: drawKernels },
    { name: "Steps", note: "Each kernel becomes expressions over an index. Views disappear into the index of a load (−), equal steps into one (≈); loads and numbers are new (+).", draw: drawSteps },
    { name: isWgsl ? "WGSL" : "WebAssembly", note: "Templates are filled with the expressions. New (+) are lines that no expression of the program stands for: declarations, bounds, loops.", draw: drawText },
  ];
  const range = el("input", { type: "range", min: 0, max: stages.length - 1, value: 0, "aria-label": "Stage" });
  const note = el("p", { class: "stage-note", role: "status" });
  const body = el("div", { class: "stage-body" });
  const names = stages.map(({ name }, at) => button(name, () => void go(at), { class: "quiet" }));
  let generation = 0;
  const go = async (at: number): Promise<void> => {
    const stage = stages[at];
    if (!stage) return;
    const mine = ++generation;
    range.value = String(at);
    range.setAttribute("aria-valuetext", stage.name);
    names.forEach((each, index) => each.setAttribute("aria-pressed", String(index === at)));
    note.textContent = `${stage.name}: ${stage.note}`;
    try {
      const drawn = await stage.draw();
      if (mine === generation) body.replaceChildren(...drawn);
    } catch (error) {
      if (mine === generation) body.textContent = messageOf(error);
    }
  };
  range.addEventListener("input", () => void go(Number(range.value)));
  void go(0);
  const left = found.leftOut > 0 ? el("p", { class: "stage-note" }, `This kernel alone: ${count(found.leftOut, "more node")} of its flush are not shown.`) : null;
  return el("div", { class: "stages" }, el("div", { class: "stage-choice" }, range, ...names), note, left, body);
}

/** A node as a call of its operation on other nodes. */
function callOf({ op, inputs }: StageNode): string {
  return inputs.length > 0 ? `${op}(${inputs.map((input) => `n${input}`).join(", ")})` : op;
}

function titleOf(kernel: KernelRecord | undefined): string {
  return kernel ? kernel.formula || kernel.name : "";
}
