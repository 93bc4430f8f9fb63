/** The drawing of a stack of buffers, and the cursor that a pointer or keys move. */

import { el, perFrame } from "../../parts/dom";
import { bytes } from "../../parts/format";
import type { DeviceMemory } from "../../page/protocol";
import { aliveAt, COLOURS, orderOf, stackOf, type Stack } from "./stack";

/** A buffer during a kernel; none where nothing is in use. */
export interface Cursor {
  step: number;
  block: number | null;
}

export interface MemoryPicture {
  dom: HTMLElement;
  /** Draw a record, with the cursor at a buffer if that is in use then. */
  draw(memory: DeviceMemory, kernels: number, at: Cursor | null): void;
  /** Draw it again, in the colours of the page's theme. */
  redraw(): void;
}

export interface PictureEvents {
  /** The cursor stands on a buffer, or on none. */
  point(cursor: Cursor | null): void;
  /** The reader chose where the cursor stands, by a click or by keys. */
  select(cursor: Cursor | null): void;
  /** The reader wants to see the line of a buffer. */
  choose(cursor: Cursor): void;
}

const HEIGHT = 240;
const LEFT = 8;
const TOP = 22;
const BELOW = 20;
/** The least height and width of a block with a border. */
const BORDER_PIXELS = 4;
/** The least distance of two marks of flushes, in pixels. */
const FLUSH_PIXELS = 5;
/** A page of kernels, as a fraction of all. */
const PAGE_PART = 0.1;

interface Colours {
  series: string[];
  other: string;
  ground: string;
  text: string;
  muted: string;
  line: string;
}

function coloursOf(dom: HTMLElement): Colours {
  const probe = el("span", { hidden: true });
  dom.append(probe);
  const read = (className: string, value: string): string => {
    probe.className = className;
    probe.style.color = value;
    return getComputedStyle(probe).color;
  };
  const series = [...Array(COLOURS).keys()].map((index) => read(`series-${index}`, "var(--series)"));
  const [other, ground, text, muted, line] = ["--line-strong", "--surface", "--text", "--muted", "--line"].map((name) => read("", `var(${name})`));
  probe.remove();
  return { series, other: other ?? "", ground: ground ?? "", text: text ?? "", muted: muted ?? "", line: line ?? "" };
}

export function mountPicture(events: PictureEvents): MemoryPicture {
  const canvas = el("canvas", { class: "memory-picture", tabindex: 0, role: "application" });
  const dom = el("div", { class: "memory-drawing" }, canvas);
  let memory: DeviceMemory | null = null;
  let kernels = 0;
  let stack: Stack | null = null;
  let order: number[] = [];
  let width = 0;
  let cursor: Cursor | null = null;
  /** Where the cursor stands while nothing else is pointed at. */
  let selected: Cursor | null = null;

  const layOut = (): void => {
    width = dom.clientWidth;
    if (!memory || width <= 2 * LEFT) return;
    stack = stackOf(memory, kernels, width - 2 * LEFT);
    order = orderOf(memory.blocks, stack.length);
    paint();
  };
  const paint = (): void => {
    if (memory && stack) paintStack(canvas, memory, stack, cursor, width, coloursOf(dom));
  };
  const point = (next: Cursor | null): void => {
    if (next?.step === cursor?.step && next?.block === cursor?.block) return;
    cursor = next;
    paint();
    events.point(next);
  };
  const move = (next: Cursor | null): void => {
    selected = next;
    point(next);
    events.select(next);
  };
  const alive = (step: number): number[] => (memory && stack ? aliveAt(order, memory.blocks, step, stack.length) : []);
  const under = ({ clientX, clientY }: PointerEvent | MouseEvent): Cursor | null => {
    if (!memory || !stack) return null;
    const box = canvas.getBoundingClientRect();
    const column = Math.min(Math.max(Math.floor(clientX - box.left - LEFT), 0), stack.steps.length - 1);
    const step = stack.steps[column] ?? 0;
    const height = (1 - (clientY - box.top - TOP) / (HEIGHT - TOP - BELOW)) * stack.top;
    let low = memory.before;
    for (const block of alive(step)) {
      const high = low + (memory.blocks[block]?.bytes ?? 0);
      if (height >= low && height < high) return { step, block };
      low = high;
    }
    return { step, block: null };
  };
  /** Move by kernels, staying on the same block where it is still there. */
  const along = (step: number): void => {
    const at = Math.min(Math.max(step, 0), (stack?.length ?? 1) - 1);
    const there = alive(at);
    const same = cursor && cursor.block !== null && there.includes(cursor.block) ? cursor.block : (there.at(-1) ?? null);
    move({ step: at, block: same });
  };
  const up = (by: number): void => {
    const step = cursor?.step ?? memory?.step ?? 0;
    const there = alive(step);
    const now = cursor?.block == null ? -1 : there.indexOf(cursor.block);
    move({ step, block: there[Math.min(Math.max(now + by, 0), there.length - 1)] ?? null });
  };
  canvas.addEventListener("pointermove", (event) => point(under(event)));
  canvas.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch" && document.activeElement !== canvas) point(selected);
  });
  canvas.addEventListener("blur", () => point(selected));
  canvas.addEventListener("click", (event) => {
    const found = under(event);
    move(found);
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    if (found && !isTouch) events.choose(found);
  });
  canvas.addEventListener("keydown", (event) => {
    if (!memory || !stack || event.ctrlKey || event.metaKey || event.altKey) return;
    const { length } = stack;
    const step = cursor?.step ?? memory.step;
    const page = Math.max(Math.round(length * PAGE_PART), 1);
    const actions: Record<string, () => void> = {
      ArrowLeft: () => along(cursor ? step - 1 : step),
      ArrowRight: () => along(cursor ? step + 1 : step),
      PageUp: () => along(step - page),
      PageDown: () => along(step + page),
      Home: () => along(0),
      End: () => along(length - 1),
      ArrowUp: () => up(1),
      ArrowDown: () => up(-1),
      p: () => along(memory?.step ?? 0),
      Enter: () => {
        if (cursor) events.choose(cursor);
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  new ResizeObserver(perFrame(() => {
    if (dom.clientWidth !== width) layOut();
  })).observe(dom);
  return {
    dom,
    draw: (next, steps, at) => {
      [memory, kernels, cursor, selected] = [next, steps, null, null];
      const label = `Memory over ${steps} kernels; arrow keys move between kernels and buffers, P goes to the peak, Enter to the line`;
      canvas.setAttribute("aria-label", label);
      layOut();
      if (!at) return;
      selected = at.block !== null && alive(at.step).includes(at.block) ? at : { step: at.step, block: null };
      point(selected);
    },
    redraw: layOut,
  };
}

function paintStack(canvas: HTMLCanvasElement, memory: DeviceMemory, stack: Stack, cursor: Cursor | null, width: number, colours: Colours): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  canvas.style.height = `${HEIGHT}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const columns = stack.steps.length;
  const ground = HEIGHT - BELOW;
  const yOf = (size: number): number => ground - (size / stack.top) * (ground - TOP);
  const xOf = (step: number): number => LEFT + (step / stack.length) * columns;
  if (memory.before > 0) {
    context.fillStyle = colours.line;
    context.fillRect(LEFT, yOf(memory.before), columns, ground - yOf(memory.before));
  }
  context.strokeStyle = colours.ground;
  context.lineWidth = 1;
  for (const { block, from, to, low, colour, idle } of stack.rects) {
    const size = memory.blocks[block]?.bytes ?? 0;
    const [top, bottom] = [yOf(low + size), yOf(low)];
    context.globalAlpha = idle ? 0.3 : cursor && cursor.block !== null && cursor.block !== block ? 0.6 : 1;
    context.fillStyle = colour === null ? colours.other : (colours.series[colour] ?? colours.other);
    context.fillRect(LEFT + from, top, to - from, bottom - top);
    if (bottom - top >= BORDER_PIXELS && to - from >= BORDER_PIXELS) {
      context.globalAlpha = 1;
      context.strokeRect(LEFT + from + 0.5, top + 0.5, to - from - 1, bottom - top - 1);
    }
  }
  context.globalAlpha = 1;
  paintAxis(context, memory, stack, colours, { xOf, yOf, width });
  if (cursor) {
    context.fillStyle = colours.text;
    context.fillRect(Math.round(xOf(cursor.step + 0.5)), TOP, 1, ground - TOP);
    context.strokeStyle = colours.text;
    context.lineWidth = 1.5;
    for (const { block, from, to, low } of stack.rects) {
      if (block !== cursor.block) continue;
      const [top, bottom] = [yOf(low + (memory.blocks[block]?.bytes ?? 0)), yOf(low)];
      context.strokeRect(LEFT + from, top, to - from, bottom - top);
    }
  }
}

/** Draw the peak with its bytes, the ground, and where flushes begin. */
function paintAxis(
  context: CanvasRenderingContext2D,
  { peak, step, blocks }: DeviceMemory,
  { length }: Stack,
  { muted, text, line }: Colours,
  { xOf, yOf, width }: { xOf(step: number): number; yOf(size: number): number; width: number },
): void {
  const ground = HEIGHT - BELOW;
  context.font = '12px "JetBrains Mono", ui-monospace, Menlo, Consolas, monospace';
  const y = Math.round(yOf(peak)) - 0.5;
  context.strokeStyle = muted;
  context.lineWidth = 1;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(LEFT, y);
  context.lineTo(width - LEFT, y);
  context.stroke();
  context.setLineDash([]);
  const x = xOf(step + 0.5);
  context.fillStyle = text;
  context.beginPath();
  context.moveTo(x, y + 1);
  context.lineTo(x - 5, y - 6);
  context.lineTo(x + 5, y - 6);
  context.fill();
  const label = `peak ${bytes(peak)}`;
  const wide = context.measureText(label).width;
  context.textAlign = "left";
  context.fillText(label, Math.min(Math.max(x + 9, LEFT), width - LEFT - wide), y - 3);
  context.fillStyle = line;
  context.fillRect(LEFT, ground, width - 2 * LEFT, 1);
  context.fillStyle = muted;
  const begins = [...new Set(blocks.filter(({ use }) => use === "flush").map(({ begin }) => begin))];
  if (begins.length * FLUSH_PIXELS < width) for (const begin of begins) context.fillRect(Math.round(xOf(begin)), ground, 1, 4);
  context.fillText("0", LEFT, HEIGHT - 4);
  const end = `${(length - 1).toLocaleString("en-US")} kernels`;
  context.fillText(end, width - LEFT - context.measureText(end).width, HEIGHT - 4);
}
