/** A workgroup of a kernel thread by thread: which elements each one reads and writes, step by step. */

import { el } from "../../parts/dom";
import { count } from "../../parts/format";
import type { SharedArray, Threads, ThreadStep } from "../../page/protocol";
import { mountSlider } from "../tensors/slider";

/** Elements of an array in a line, if it has one axis, and the most cells of a picture. */
const COLUMNS = 16;
const MOST = { columns: 40, rows: 24 };

const CELL = { least: 9, most: 28, lettered: 15, numbered: 22 };

const USES = [
  ["read", "R", "read by this thread"],
  ["write", "W", "written"],
  ["atomic", "A", "updated atomically"],
  ["other", "", "used by others"],
] as const;

/** Show a workgroup; `ask` requests another one. */
export function mountThreads(found: Threads, ask: ((group: number[]) => void) | null): HTMLElement {
  const { problems, workgroup, arrays } = found;
  const dom = el("section", { class: "threads", "aria-label": "Threads of a workgroup" });
  if (problems.length) {
    dom.append(...problems.map(({ text, line }) => el("p", {}, `The threads cannot be stepped: line ${line}: ${text}.`)));
    return dom;
  }
  const total = workgroup.reduce((product, length) => product * length, 1);
  const steps: ThreadStep[][] = Array.from({ length: total }, () => []);
  for (const step of found.steps) steps[step.thread]?.push(step);
  let thread = 0;
  let at = 0;
  const words = el("p", { class: "threads-words", role: "status" });
  const legend = el("p", { class: "threads-legend" }, ...USES.map(([use, letter, text]) => el("span", {}, el("span", { class: `threads-${use}`, "aria-hidden": "true" }, letter), ` ${text}`)));
  const pictures = arrays.map((array) => {
    const canvas = el("canvas", { "aria-hidden": "true" });
    const caption = el("figcaption", {});
    return { array, canvas, caption, dom: el("figure", {}, caption, canvas) };
  });
  const lines = found.source.trimEnd().split("\n").map((line) => el("span", { class: "threads-line" }, `${line}\n`));
  const code = el("pre", { class: "threads-code", tabindex: 0, role: "region", "aria-label": "Text of the kernel" }, ...lines);
  const draw = (): void => {
    const own = steps[thread] ?? [];
    const step = own[at];
    words.textContent = step ? `Thread ${thread}${position(thread, workgroup)}, step ${at + 1} of ${own.length}: ${said(step, arrays)}, line ${step.line}.` : `Thread ${thread}${position(thread, workgroup)} reads and writes nothing that is shared.`;
    lines.forEach((line, index) => line.classList.toggle("is-lit", index + 1 === step?.line));
    const lit = step && lines[step.line - 1];
    if (lit) code.scrollTop = lit.offsetTop - code.clientHeight / 3;
    pictures.forEach((picture, index) => drawArray(dom, picture, index, found.steps, thread, step));
  };
  const stepSlider = mountSlider("step", "Step of the thread", (value) => {
    at = value;
    draw();
  });
  const choose = (value: number): void => {
    thread = value;
    at = 0;
    stepSlider.set(0, steps[thread]?.length ?? 0);
    draw();
  };
  const threadSlider = mountSlider("thread", "Thread of the workgroup", choose);
  threadSlider.set(0, total);
  const mistakes = found.mistakes.map(({ text }) => el("li", {}, text));
  dom.append(
    groupChoice(found, ask) ?? "",
    mistakes.length ? el("div", { role: "alert" }, el("ul", { class: "threads-mistakes" }, ...mistakes)) : el("p", { class: "threads-well" }, "No races, no index beyond an end, and every barrier is reached by all."),
    ...(found.cut ? [el("p", {}, `Only the first ${count(found.steps.length, "step")} are shown.`)] : []),
    threadSlider.dom,
    stepSlider.dom,
    words,
    code,
    legend,
    el("div", { class: "threads-arrays" }, ...pictures.map((picture) => picture.dom)),
  );
  choose(0);
  // The first call comes when it is on the page, whose width the cells have.
  new ResizeObserver(draw).observe(dom);
  return dom;
}

/** Fields for the index of the workgroup, if there are several. */
function groupChoice({ groups, group }: Threads, ask: ((group: number[]) => void) | null): HTMLElement | null {
  if (!ask || groups.every((length) => length === 1)) return null;
  const fields = groups.map((length, axis) => {
    const name = `Workgroup ${"xyz"[axis] ?? ""}`;
    const field = el("input", { type: "number", min: 0, max: length - 1, value: group[axis] ?? 0, "aria-label": name });
    const change = (): void => ask(group.map((own, other) => (other === axis ? Math.max(0, Number(field.value)) : own)));
    field.addEventListener("change", change);
    return length > 1 ? el("label", {}, `${name} `, field, ` of ${length.toLocaleString("en-US")}`) : "";
  });
  return el("p", { class: "threads-groups" }, ...fields);
}

/** The index of a thread along the axes, if there are several. */
function position(thread: number, [x = 1, y = 1, z = 1]: readonly number[]): string {
  const index = [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];
  return y * z > 1 ? ` (${index.slice(0, z > 1 ? 3 : 2).join(", ")})` : "";
}

function said({ kind, array, at, value }: ThreadStep, arrays: readonly SharedArray[]): string {
  const element = nameOf(arrays[array], at);
  if (kind === "barrier") return "waits at the barrier";
  return kind === "read" ? `reads ${element}, which is ${value}` : kind === "write" ? `writes ${value} to ${element}` : `updates ${element}, atomically, to ${value}`;
}

/** An element as the text names it. */
export function nameOf(array: SharedArray | undefined, at: number): string {
  if (!array) return "";
  const shape = array.space === "workgroup" ? array.shape : [0];
  if (shape.length < 2) return shape.length ? `${array.name}[${at}]` : array.name;
  let left = at;
  const index = [...shape].reverse().map((length) => {
    const own = left % length;
    left = Math.floor(left / length);
    return `[${own}]`;
  });
  return array.name + index.reverse().join("");
}

interface Picture {
  array: SharedArray;
  canvas: HTMLCanvasElement;
  caption: HTMLElement;
}

/** The rows and columns of an array that are drawn: the ones that the workgroup uses. */
export function windowOf({ shape }: Pick<SharedArray, "shape">, used: readonly number[], current: number | null): { columns: number; x: [number, number]; y: [number, number] } {
  const size = shape.reduce((product, length) => product * length, 1);
  const columns = (shape.length > 1 ? shape.at(-1) : Math.min(size, COLUMNS)) || 1;
  const cut = (of: (at: number) => number, length: number, most: number): [number, number] => {
    if (length <= most) return [0, length];
    const all = used.map(of);
    const [first, end] = [Math.min(...all, length - 1), Math.max(...all, 0) + 1];
    if (end - first <= most) return [first, Math.max(end, first)];
    const begin = Math.min(Math.max((current === null ? first : of(current)) - most / 2, first), end - most);
    return [begin, begin + most];
  };
  const rows = Math.ceil(size / columns);
  return { columns, x: cut((at) => at % columns, columns, MOST.columns), y: cut((at) => Math.floor(at / columns), rows, MOST.rows) };
}

function drawArray(host: HTMLElement, { array, canvas, caption }: Picture, index: number, all: readonly ThreadStep[], thread: number, current: ThreadStep | undefined): void {
  const here = all.filter((step) => step.array === index && step.kind !== "barrier");
  const now = current && current.array === index && current.kind !== "barrier" ? current.at : null;
  const { columns, x, y } = windowOf(array, here.map(({ at }) => at), now);
  const size = array.shape.reduce((product, length) => product * length, 1);
  const isPart = (x[1] - x[0]) * (y[1] - y[0]) < size;
  const lengths = array.shape.length ? array.shape.join(" × ") : "one value";
  caption.replaceChildren(el("code", {}, array.name), ` ${lengths}, ${array.space === "workgroup" ? "of the workgroup" : "storage"}${isPart ? `, rows ${y[0]} to ${y[1] - 1}, columns ${x[0]} to ${x[1] - 1} of ${columns}` : ""}`);
  const wide = x[1] - x[0];
  const room = (host.clientWidth || 320) - 2;
  const cell = Math.floor(Math.min(Math.max(room / Math.max(wide, 1), CELL.least), CELL.most));
  const scale = devicePixelRatio;
  const [width, height] = [wide * cell + 1, (y[1] - y[0]) * cell + 1];
  Object.assign(canvas, { width: width * scale, height: height * scale });
  canvas.style.width = `${width}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(scale, scale);
  const [read, write, atomic, other] = USES.map(([use]) => getComputedStyle(host.querySelector(`.threads-${use}`) ?? host));
  const { color: ink, backgroundColor: ground } = getComputedStyle(host.querySelector(".threads-code") ?? host);
  const styles = { read, write, atomic };
  const uses = new Map<number, Map<ThreadStep["kind"], ThreadStep>>();
  const others = new Set<number>();
  for (const step of here) {
    if (step.thread !== thread) others.add(step.at);
    else uses.set(step.at, (uses.get(step.at) ?? new Map<ThreadStep["kind"], ThreadStep>()).set(step.kind, step));
  }
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let row = y[0]; row < y[1]; row += 1) {
    for (let column = x[0]; column < x[1]; column += 1) {
      const at = row * columns + column;
      if (at >= size) continue;
      const [left, top] = [(column - x[0]) * cell + 0.5, (row - y[0]) * cell + 0.5];
      const own = [...(uses.get(at)?.keys() ?? [])];
      context.fillStyle = (others.has(at) && other?.backgroundColor) || ground;
      context.fillRect(left, top, cell, cell);
      own.forEach((kind, part) => {
        context.fillStyle = styles[kind as "read"]?.backgroundColor ?? ground;
        context.fillRect(left + (part * cell) / own.length, top, cell / own.length, cell);
      });
      context.strokeStyle = ink;
      context.globalAlpha = 0.35;
      context.lineWidth = 1;
      context.strokeRect(left, top, cell, cell);
      context.globalAlpha = 1;
      if (at === now) {
        context.lineWidth = 3;
        context.strokeRect(left + 1.5, top + 1.5, cell - 3, cell - 3);
      }
      if (!own.length || cell < CELL.lettered) continue;
      context.fillStyle = read?.color ?? ink;
      const letters = own.map((kind) => USES.find(([use]) => use === kind)?.[1] ?? "").join("");
      const text = at === now && cell >= CELL.numbered ? (current?.value ?? "") : letters;
      context.font = `${text.length > 3 ? 9 : 11}px monospace`;
      context.fillText(text, left + cell / 2, top + cell / 2 + 0.5, cell - 4);
    }
  }
}
