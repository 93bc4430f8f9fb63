/** Why a cell has its value: the arithmetic of its line, and the cells that it read, step by step down to the data. */

import { button, el } from "../../parts/dom";
import { count, tuple } from "../../parts/format";
import { lineLink } from "../../parts/line-link";
import { clipped, focused, type WhyStep } from "../../page/focus";
import type { Page } from "../../page/page";
import type { CellGradient, DeviceComparison, DeviceName, Why, WhyRow, WhySource } from "../../page/protocol";
import { originNote, whyUnavailable } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import { tensorNamed, type Cell, type Part, type RunOrigin, type View } from "../../page/view";
import { rangeOf } from "../tensors/facts";
import { mountAlignment } from "./alignment";
import { cellName } from "./cell-name";
import { mountLitPicture } from "./lit-picture";
import "./why.css";

const INVITATION = "Choose a cell in the panel of tensors and press “Why?”, or the key W on its picture: here its value is traced to the cells that it was computed from.";

/** Of a value and its gradient side by side, also on a narrow page. */
const GRADIENT_ROOM = { width: 160, height: 130 };

const NONE: readonly WhyStep[] = [];

export function mountWhy(host: HTMLElement, page: Page): Part {
  const empty = el("p", { class: "empty" }, INVITATION);
  const trail = el("nav", { class: "why-trail", "aria-label": "Cells on the way" });
  const body = el("div", { class: "why", "aria-live": "polite" });
  const status = el("p", { class: "why-status", role: "status" });
  host.append(empty, trail, status, body);
  /** What has been explained; `isFirst` if the cell first became NaN or infinite there. */
  let steps: (Why & { isFirst: boolean })[] = [];
  /** The cell to explain when another run, which retains provenance, has ended. */
  let expected: { cell: Cell; after: RunOrigin | null } | null = null;
  let run = page.view.origins.run;
  let generation = 0;
  /** The cells of a link that are to be explained after its run, and the cells of the page’s focus. */
  let linked = NONE;
  let shared = NONE;

  /** Let links carry the cells that are explained. */
  const share = (): void => {
    const why = steps.map(({ tensor, index, value, line, isFirst }): WhyStep => {
      return { name: tensor.names[0] ?? tensor.name, index, value, line, search: isFirst ? "first" : null };
    });
    const focus = focused(page.view.focus, { why });
    shared = focus?.why ?? NONE;
    page.change({ focus });
  };
  const say = (text: string): void => {
    status.textContent = text;
    empty.hidden = text !== "" || steps.length > 0;
    host.dataset["view"] = text ? "loading" : steps.length > 0 ? "ready" : "empty";
  };
  const draw = (): void => {
    const last = steps.at(-1);
    trail.hidden = steps.length < 2;
    trail.replaceChildren(
      ...steps.map((step, at) =>
        button(nameOf(step), () => cut(at + 1), { class: "quiet", "aria-current": step === last ? "step" : null }),
      ),
    );
    body.replaceChildren(...(last ? partsOf(last) : []));
    say("");
  };
  const cut = (length: number): void => {
    generation++;
    steps = steps.slice(0, length);
    draw();
    share();
  };
  const clear = (): void => {
    generation++;
    steps = [];
    draw();
    // What is to be explained stays in the focus.
    if (linked.length === 0) share();
  };
  /**
   * Explain a cell of the last run as the next step, or what first made it NaN or infinite.
   * False if that failed, or if the reader asked for another cell meanwhile.
   */
  const find = async (tensor: number, index: readonly number[], search = false): Promise<boolean> => {
    const mine = ++generation;
    const unavailable = whyUnavailable(page.view, "tensors", "tensor", "values");
    say(unavailable ?? "Looking…");
    if (unavailable) return false;
    try {
      const found = await page.request("why", { tensor, index: [...index], search });
      if (mine !== generation) return false;
      push(found, search);
      return true;
    } catch (error) {
      if (mine === generation) say(messageOf(error));
      return false;
    }
  };
  /** Explain a cell that the reader chose. */
  const ask = async (tensor: number, index: readonly number[], search = false): Promise<void> => {
    if (await find(tensor, index, search)) focusTitle();
  };
  /** Explain a cell, and what first made it NaN or infinite if that is asked for. */
  const begin = async (tensor: number, { index, isOdd: search = false }: Cell): Promise<void> => {
    if (!(await find(tensor, index))) return;
    const last = steps.at(-1);
    // A cell of data, or of finite inputs, was first made there.
    if (search && last && last.sources.length > 0 && (await find(last.tensor.id, last.index, true))) {
      const [before, first] = steps;
      // The cell itself may be where it was first made.
      if (before && first && nameOf(before) === nameOf(first)) {
        steps = [first];
        draw();
        share();
      }
    }
    focusTitle();
  };
  const push = (found: Why, isFirst = false): void => {
    steps.push({ ...found, isFirst });
    draw();
    share();
  };
  const focusTitle = (): void => body.querySelector<HTMLElement>("h2")?.focus();
  const partsOf = (step: Why & { isFirst: boolean }): HTMLElement[] => {
    const head = el("h2", { class: "why-title", tabindex: -1 }, step.tensor.size > 0 ? `${nameOf(step)} = ${step.value}` : `${step.tensor.name} has no cells`);
    const parts = [head, whereOf(step)];
    if (isOdd(step.value) && !step.isFirst && step.sources.length > 0) {
      const look = button("Where is it first made?", () => void ask(step.tensor.id, step.index, true), { class: "quiet" });
      parts.push(el("p", {}, look));
    }
    // Next to the value, so that what a button asks for is not below the pictures of all sources.
    parts.push(furtherOf(step));
    if (step.rows.length > 0) parts.push(el("ol", { class: "why-rows", "aria-label": "Arithmetic" }, ...step.rows.map((row) => rowOf(page, row))));
    if (step.sources.length > 0) {
      const more = step.sourcesLeftOut;
      const left = more > 0 ? el("p", { class: "why-note" }, `and ${count(more, "value")} more`) : null;
      parts.push(el("h3", {}, "It was computed from"), el("div", { class: "why-sources" }, ...step.sources.map(sourceOf), left));
    }
    if (!step.complete) parts.push(el("p", { class: "why-note" }, "The program computed more than fits: the values that it made first have no sources here."));
    return parts;
  };
  /** A button that is replaced by what it asks for: a heading and sections, or a sentence where there are none. */
  const asking = (label: string, heading: string, none: string, find: () => Promise<HTMLElement[]>): HTMLElement => {
    const asked = button(label, () => void look(), { class: "quiet" });
    const look = async (): Promise<void> => {
      asked.textContent = "Looking…";
      try {
        const found = await find();
        const sections = el("div", { class: "why-sources" }, ...found);
        const answer = found.length > 0 ? sections : el("p", { class: "why-note" }, none);
        const head = heading ? el("h3", {}, heading) : null;
        asked.replaceWith(head ?? "", answer);
        // Large pictures may stand above; of an answer that does not fit its beginning is shown.
        for (const part of [answer, head]) part?.scrollIntoView({ block: "nearest" });
      } catch (error) {
        asked.textContent = messageOf(error);
      }
    };
    return asked;
  };
  const furtherOf = ({ tensor, index }: Why): HTMLElement => {
    const cell = { tensor: tensor.id, index };
    const reach = async (): Promise<HTMLElement[]> => (await page.request("reached", cell)).map(sourceOf);
    const findGradients = async (): Promise<HTMLElement[]> => Promise.all((await page.request("gradients", cell)).map((one) => gradientOf(cell, one)));
    const reached = asking("What does it reach?", "It reaches", "No named tensor was computed from it.", reach);
    const gradients = asking("Its gradients", "Its gradient by", "It depends on no float tensor that has a name or belongs to a network.", findGradients);
    const other: DeviceName = tensor.device === "cpu" ? "webgpu" : "cpu";
    const devices = asking(`Compare with ${other}`, "", "", async () => comparisonOf(await page.request("compared", { device: other })));
    return el("div", { class: "why-further" }, reached, tensor.dtype.startsWith("float") ? gradients : null, page.view.started?.adapter ? devices : null);
  };
  /** What another device computed for the operations of the run. */
  const comparisonOf = ({ device, compared, leftOut, first, other }: DeviceComparison): HTMLElement[] => {
    const left = leftOut > 0 ? `; ${count(leftOut, "operation")} could not be compared` : "";
    if (!first) return [el("p", {}, `${count(compared, "operation")} of the run agree on ${device} within the bounds of their errors${left}.`)];
    const go = button(`${nameOf(first)} = ${first.value}`, () => {
      push(first);
      focusTitle();
    }, { class: "quiet why-cell" });
    return [el("p", {}, `After ${count(compared, "operation")} that agree, ${device} computes ${other} for `, go, left)];
  };
  /** A value and its gradient side by side; a cell of either leads to the cell of the tensor. */
  const gradientOf = async (cell: { tensor: number; index: number[] }, { tensor, gradient }: CellGradient): Promise<HTMLElement> => {
    const { min, max, shape } = gradient;
    // Of several slices the one with the largest element.
    const what = (max ?? 0) >= -(min ?? 0) ? "max" : "min";
    const largest = shape.length > 2 ? (await page.request("find", { tensor: gradient.id, what })).index : null;
    const first = [...(largest ?? shape.map(() => 0))];
    const head = el("h4", {}, el("code", {}, tensor.name), ` ${tuple(tensor.shape)}: ${rangeOf(gradient)}`);
    const pictures = mountLitPicture(page, tensor, first, null, (index) => void ask(tensor.id, index), GRADIENT_ROOM, gradient);
    const check = async (): Promise<HTMLElement[]> => {
      const { index, gradient: own, quotient, step } = await page.request("check_gradient", { ...cell, by: tensor.id, gradient: gradient.id });
      return [el("p", {}, `The largest, by ${cellName(tensor, index)}, is ${own}; by differences with the step ${step} it is ${quotient}.`)];
    };
    return el("section", { class: "why-source" }, head, pictures, asking("Check by differences", "", "", check));
  };
  /** The line that made the value. */
  const whereOf = ({ line, file, code, sources, rows }: Why): HTMLElement => {
    const where = line === null ? "a line outside of the program" : lineLink(page, { line, file });
    return el("p", { class: "why-where" }, sources.length + rows.length > 0 ? "Made by " : "Data of ", where, " ", el("code", {}, code));
  };
  const sourceOf = (source: WhySource): HTMLElement => {
    const { tensor, cells, line, file } = source;
    const buttons = cells.map(({ index, value }, at) => {
      const gap = at > 0 && at === cells.length - 1 && source.count > cells.length ? "… " : "";
      const label = `${gap}${cellName(tensor, index)} = ${value}`;
      return button(label, () => void ask(tensor.id, index), { class: "quiet why-cell", title: "Why has this cell its value?" });
    });
    const made = line === null ? null : lineLink(page, { line, file });
    const head = el("h4", {}, el("code", {}, tensor.name), ` ${tuple(tensor.shape)}: ${cellsOf(source)} `, made);
    const picture = mountLitPicture(page, tensor, [...(cells[0]?.index ?? [])], source, (index) => void ask(tensor.id, index));
    return el("section", { class: "why-source" }, head, picture, el("div", { class: "why-cells" }, ...buttons));
  };
  /** Explain the expected cell once its run has ended. */
  const proceed = ({ run: record, tensors, phase, origins }: View): void => {
    if (!expected || phase !== "idle" || !record) return;
    if (origins.output === expected.after || origins.tensors !== origins.output) return;
    const { cell } = expected;
    const { name } = cell;
    expected = null;
    const tensor = tensorNamed(tensors, name);
    if (!record.inside || !tensor) say(`The run did not make ${name} again.`);
    else void begin(tensor.id, cell);
  };
  /** Explain the cells of a link, each found among the values that the one before read. */
  const replay = async (cells: readonly WhyStep[]): Promise<void> => {
    for (const { name, index, search } of cells) {
      const last = steps.at(-1);
      if (search && last) {
        if (!(await find(last.tensor.id, last.index, true))) return;
        continue;
      }
      const read = last?.sources.map(({ tensor }) => tensor) ?? [];
      const tensor = [...read, ...page.view.tensors].find((one) => clipped(one.names[0] ?? one.name) === name);
      if (!tensor) return say(`The run did not make ${name} again.`);
      if (!(await find(tensor.id, index))) return;
    }
  };
  const part: Part = {
    update: (view) => {
      // A link brings cells; another program that is opened takes them away.
      const why = view.focus?.why ?? NONE;
      if (why !== shared) linked = shared = why;
      if (view.origins.run !== run) {
        const before = run;
        run = view.origins.run;
        if (steps.length > 0) {
          // Another panel ran the program once more: the same cells are explained again.
          if (view.run?.inside && run?.isForPanel && run.document === before?.document) linked = shared;
          clear();
        }
        // A change of the focus has drawn this panel already.
        if (view !== page.view) return;
      }
      const { output, tensors } = view.origins;
      const isOurs = output?.document === view.document.id && tensors === output;
      if (linked.length > 0 && isOurs && view.run?.inside && view.phase === "idle") {
        const cells = linked;
        linked = NONE;
        void replay(cells);
      }
      proceed(view);
    },
    why: (cell) => {
      page.show(host.id);
      const { run: record, tensors, origins } = page.view;
      const id = cell.id ?? tensorNamed(tensors, cell.name)?.id;
      const isKnown = record?.inside && id !== undefined;
      if (!isKnown && !page.run(null, { inside: true })) return;
      linked = NONE;
      clear();
      if (isKnown) return void begin(id, cell);
      expected = { cell, after: origins.output };
      say("Running the program once more, to remember what each value was computed from…");
    },
    originNote: (view) => (steps.length > 0 ? originNote(view, "tensors") : null),
  };
  draw();
  return part;
}

function nameOf({ tensor, index }: Why): string {
  return cellName(tensor, index);
}

function cellsOf({ count: some, tensor }: WhySource): string {
  if (some === tensor.size) return some === 1 ? "its value" : "every cell";
  return `${count(some, "cell")} of ${tensor.size.toLocaleString("en-US")}`;
}

function rowOf(page: Page, { text, op, count: some, aligned, index }: WhyRow): HTMLElement {
  const note = some > 1 ? el("span", { class: "why-note" }, `first of ${count(some, "such cell")}`) : null;
  const node = el("li", { title: op }, el("code", {}, text), " ", note);
  if (aligned === null) return node;
  const open = async (): Promise<void> => {
    const stage = mountAlignment(page, await page.request("aligned", { tensor: aligned }), index);
    steps.replaceWith(stage);
    stage.querySelector("h3")?.focus();
  };
  const steps = button("Step through", () => open().catch((error: unknown) => page.warn(messageOf(error))), { class: "quiet", title: "Show cell by cell how the operands align" });
  node.append(" ", steps);
  return node;
}

function isOdd(value: string): boolean {
  return /nan|inf/.test(value);
}
