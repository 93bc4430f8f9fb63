/** The drawing of a timeline, its zoom, the range that is selected, and the cursor on a bar. */

import { HUES, hueOf } from "../../page/line-results";
import { el, perFrame } from "../../parts/dom";
import { duration } from "../../parts/format";
import { LANES, type Bar, type Range } from "./bars";

export interface TimelinePicture {
  dom: HTMLElement;
  draw(bars: readonly Bar[], seconds: number): void;
  select(range: Range | null): void;
  /** Draw it again, in the colours of the page's theme. */
  redraw(): void;
  /** Show the selected range, or everything. */
  zoom(toSelection: boolean): void;
}

export interface PictureEvents {
  point(bar: Bar | null): void;
  /** The selected range has changed; null for none. A dragged one changes until the drag ends. */
  select(range: Range | null, isDragged: boolean): void;
  /** The reader wants to see the line and the kernel of a bar. */
  choose(bar: Bar): void;
}

const ROW = 30;
const GAP = 4;
const LABELS = 72;
const BELOW = 22;
const HEIGHT = LANES.length * ROW + BELOW;
/** A pointer that moves less than this clicks. */
const CLICK_PIXELS = 4;
const SLACK_PIXELS = 3;
const STEP = 1.5;
const TICK_PIXELS = 110;

export function mountPicture(events: PictureEvents): TimelinePicture {
  const canvas = el("canvas", { class: "timeline-picture", tabindex: 0, role: "application" });
  const dom = el("div", { class: "timeline-drawing" }, canvas);
  let bars: readonly Bar[] = [];
  let seconds = 0;
  let view: Range = { from: 0, to: 1 };
  let selection: Range | null = null;
  let cursor: Bar | null = null;
  let width = 0;
  /** The time at which a drag began, and whether the pointer has moved since it was pressed. */
  let dragged: number | null = null;
  let isMoved = false;
  /** The bar that the cursor stood on when a pointer was pressed. */
  let before: Bar | null = null;

  const scale = (): number => Math.max(width - LABELS, 1) / (view.to - view.from || 1);
  const xOf = (time: number): number => LABELS + (time - view.from) * scale();
  const timeOf = (x: number): number => Math.min(Math.max(view.from + (x - LABELS) / scale(), view.from), view.to);
  const paint = perFrame(() => {
    width = dom.clientWidth;
    if (width > LABELS) paintBars(canvas, dom, { bars, view, selection, cursor, width, xOf });
  });
  const point = (bar: Bar | null): void => {
    if (bar === cursor) return;
    cursor = bar;
    paint();
    events.point(bar);
  };
  const select = (range: Range | null, isDragged = false): void => {
    selection = range && range.to > range.from ? range : null;
    paint();
    events.select(selection, isDragged);
  };
  const show = (from: number, to: number): void => {
    const length = Math.min(Math.max(to - from, 1e-6), seconds || 1);
    const begin = Math.min(Math.max(from, 0), Math.max(seconds - length, 0));
    view = { from: begin, to: begin + length };
    paint();
  };
  const zoomBy = (factor: number, around: number): void => show(around - (around - view.from) / factor, around + (view.to - around) / factor);
  const zoom = (toSelection: boolean): void => {
    const range = selection ?? (cursor && { from: cursor.begin, to: cursor.end });
    if (toSelection && range) show(range.from, range.to);
    else show(0, seconds);
  };
  const positionOf = ({ clientX, clientY }: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: clientX - box.left, y: clientY - box.top };
  };
  /** The bar under a pointer, or the nearest one within some pixels. */
  const under = (event: MouseEvent): Bar | null => {
    const { x, y } = positionOf(event);
    const lane = LANES[Math.floor(y / ROW)]?.lane;
    const distance = ({ begin, end }: Bar): number => Math.max(xOf(begin) - x, x - xOf(end), 0);
    let best: Bar | null = null;
    for (const bar of bars) if (bar.lane === lane && distance(bar) <= SLACK_PIXELS && (!best || distance(bar) < distance(best))) best = bar;
    return best;
  };
  canvas.addEventListener("pointerdown", (event) => {
    [before, isMoved] = [cursor, false];
    if (event.button !== 0 || event.pointerType === "touch") return;
    dragged = timeOf(positionOf(event).x);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (dragged === null) return point(under(event));
    const time = timeOf(positionOf(event).x);
    isMoved ||= Math.abs(time - dragged) * scale() >= CLICK_PIXELS;
    if (isMoved) select({ from: Math.min(dragged, time), to: Math.max(dragged, time) }, true);
  });
  // It follows `pointerup` and `pointercancel`, and comes without them if the pointer is lost.
  canvas.addEventListener("lostpointercapture", () => {
    if (dragged !== null && isMoved) select(selection);
    dragged = null;
  });
  canvas.addEventListener("pointerleave", ({ pointerType }) => {
    if (pointerType !== "touch" && document.activeElement !== canvas) point(null);
  });
  canvas.addEventListener("click", (event) => {
    if (isMoved) return;
    const bar = under(event);
    point(bar);
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    // The first tap shows what a pointer shows when it points.
    if (bar && (!isTouch || bar === before)) events.choose(bar);
    else if (!bar) select(null);
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomBy(event.deltaY < 0 ? STEP : 1 / STEP, timeOf(positionOf(event).x));
  }, { passive: false });
  /** Put the cursor on a bar, and let the view follow it. */
  const stand = (bar: Bar | undefined, extend: boolean): void => {
    if (!bar) return;
    if (extend && cursor) {
      const { from, to } = selection ?? { from: cursor.begin, to: cursor.end };
      select({ from: Math.min(from, bar.begin), to: Math.max(to, bar.end) });
    }
    point(bar);
    const length = view.to - view.from;
    if (bar.begin < view.from) show(bar.begin - length / 10, bar.begin + (9 * length) / 10);
    else if (bar.end > view.to) show(bar.end - (9 * length) / 10, bar.end + length / 10);
  };
  const along = (by: number, extend = false): void => {
    const lane = cursor?.lane ?? "python";
    const own = bars.filter((bar) => bar.lane === lane);
    stand(cursor ? own[Math.min(Math.max(own.indexOf(cursor) + by, 0), own.length - 1)] : own[0], extend);
  };
  /** To the nearest bar of the next lane that has any. */
  const across = (by: number): void => {
    const middle = cursor ? (cursor.begin + cursor.end) / 2 : view.from;
    let row = LANES.findIndex(({ lane }) => lane === cursor?.lane);
    for (row += by; row >= 0 && row < LANES.length; row += by) {
      const own = bars.filter(({ lane }) => lane === LANES[row]?.lane);
      const near = [...own].sort((one, other) => away(one, middle) - away(other, middle));
      if (near[0]) return stand(near[0], false);
    }
  };
  canvas.addEventListener("keydown", (event) => {
    if (!bars.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const around = cursor ? (cursor.begin + cursor.end) / 2 : (view.from + view.to) / 2;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => along(-1, event.shiftKey),
      ArrowRight: () => along(1, event.shiftKey),
      ArrowUp: () => across(-1),
      ArrowDown: () => across(1),
      Home: () => along(-bars.length, event.shiftKey),
      End: () => along(bars.length, event.shiftKey),
      "+": () => zoomBy(STEP, around),
      "-": () => zoomBy(1 / STEP, around),
      z: () => zoom(true),
      Z: () => zoom(true),
      Escape: () => (selection ? select(null) : zoom(false)),
      Enter: () => {
        if (cursor) events.choose(cursor);
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  new ResizeObserver(() => {
    if (dom.clientWidth !== width) paint();
  }).observe(dom);
  return {
    dom,
    draw: (next, length) => {
      [bars, seconds, cursor, selection, dragged] = [next, length, null, null, null];
      view = { from: 0, to: length || 1 };
      canvas.setAttribute("aria-label", `Time of the run, ${duration(length)}; arrow keys move between bars and lanes, Shift extends a range, Z zooms to it, Escape removes it and then shows everything, Enter goes to the line`);
      paint();
    },
    redraw: paint,
    zoom,
    select,
  };
}

function away({ begin, end }: Bar, time: number): number {
  return Math.max(begin - time, time - end, 0);
}

interface Drawing {
  bars: readonly Bar[];
  view: Range;
  selection: Range | null;
  cursor: Bar | null;
  width: number;
  xOf(time: number): number;
}

function paintBars(canvas: HTMLCanvasElement, dom: HTMLElement, { bars, view, selection, cursor, width, xOf }: Drawing): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  canvas.style.height = `${HEIGHT}px`;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  const probe = el("span", { hidden: true });
  dom.append(probe);
  const read = (value: string, name = ""): string => {
    probe.className = name;
    probe.style.color = `var(${value})`;
    return getComputedStyle(probe).color;
  };
  const hues = [...Array(HUES).keys()].map((kernel) => read("--hue", hueOf(kernel)));
  const [text = "", muted = "", line = "", plain = "", accent = ""] = ["--text", "--muted", "--line", "--line-strong", "--accent"].map((name) => read(name));
  probe.remove();
  context.font = '12px "JetBrains Mono", ui-monospace, Menlo, Consolas, monospace';
  LANES.forEach(({ label }, row) => {
    context.fillStyle = text;
    context.fillText(label, 0, row * ROW + ROW / 2 + 4);
    context.fillStyle = line;
    context.fillRect(LABELS, (row + 1) * ROW - 1, width - LABELS, 1);
  });
  context.save();
  context.beginPath();
  context.rect(LABELS, 0, width - LABELS, HEIGHT);
  context.clip();
  const rows = new Map(LANES.map(({ lane }, row) => [lane, row * ROW + GAP]));
  for (const bar of bars) {
    if (bar.end < view.from || bar.begin > view.to) continue;
    const [x, y] = [xOf(bar.begin), rows.get(bar.lane) ?? 0];
    const wide = Math.max(xOf(bar.end) - x, 1);
    context.globalAlpha = bar.known === "most" ? 0.35 : 1;
    context.fillStyle = bar.kernel === null ? plain : (hues[bar.kernel % HUES] ?? plain);
    context.fillRect(x, y, wide > 3 ? wide - 0.5 : wide, ROW - 2 * GAP);
    if (bar !== cursor) continue;
    context.globalAlpha = 1;
    context.strokeStyle = text;
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, wide + 2, ROW - 2 * GAP + 2);
  }
  context.globalAlpha = 1;
  if (selection) {
    const [from, to] = [xOf(selection.from), xOf(selection.to)];
    context.fillStyle = accent;
    context.globalAlpha = 0.14;
    context.fillRect(from, 0, to - from, HEIGHT - BELOW);
    context.globalAlpha = 1;
    for (const x of [from, to]) context.fillRect(Math.round(x), 0, 1, HEIGHT - BELOW);
  }
  context.fillStyle = muted;
  const step = tickOf(((view.to - view.from) * TICK_PIXELS) / (width - LABELS));
  for (let tick = Math.ceil(view.from / step); tick * step <= view.to; tick++) {
    const x = Math.round(xOf(tick * step));
    context.fillRect(x, HEIGHT - BELOW, 1, 4);
    context.fillText(tick ? duration(tick * step) : "0", x + 3, HEIGHT - 5);
  }
  context.restore();
}

/** The least round number above a length. */
function tickOf(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= length) ?? 10 * power;
}
