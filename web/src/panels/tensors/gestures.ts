/** Mouse, wheel and touch gestures of a picture: point, click, drag, pinch, double click. */

import type { Point } from "./viewport";

export interface Gestures {
  /** Zoom one step towards or away from a point; false at the last step. */
  zoom(direction: 1 | -1, about: Point): boolean;
  pan(by: Point): void;
  point(at: Point): unknown;
  /** A single click or tap. */
  click(at: Point): void;
  fit(): void;
  canPan(): boolean;
  left(): void;
}

/** Wheel distance of one step. */
const WHEEL_STEP = 40;
const PINCH_STEP = 1.3;
/** The time limit of a double click. */
const DOUBLE_MS = 250;
/** The least movement of a drag. */
const LEAST_DRAG = 4;

export function mountGestures(frame: HTMLElement, to: Gestures): void {
  const pointers = new Map<number, Point>();
  let scrolled = 0;
  let apart = 0;
  let clicking = 0;
  let pressed: Point | null = null;

  const inFrame = (event: MouseEvent): Point => {
    const box = frame.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  frame.addEventListener(
    "wheel",
    (event) => {
      scrolled = Math.sign(scrolled) === Math.sign(event.deltaY) ? scrolled + event.deltaY : event.deltaY;
      if (Math.abs(scrolled) < WHEEL_STEP && event.deltaMode === 0) return event.preventDefault();
      const direction = scrolled < 0 ? 1 : -1;
      scrolled = 0;
      // At the last zoom step the page may scroll.
      if (to.zoom(direction, inFrame(event))) event.preventDefault();
    },
    { passive: false },
  );
  frame.addEventListener("dblclick", (event) => {
    clearTimeout(clicking);
    if (!to.zoom(1, inFrame(event))) to.fit();
  });
  frame.addEventListener("pointerdown", (event) => {
    const at = inFrame(event);
    pointers.set(event.pointerId, at);
    apart = distance(pointers);
    pressed = event.button === 0 && event.pointerType === "mouse" ? at : null;
    to.point(at);
    if (to.canPan() && event.button === 0) frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointermove", (event) => {
    const at = inFrame(event);
    const before = pointers.get(event.pointerId);
    if (!before) return void to.point(at);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      const now = distance(pointers);
      const factor = now / Math.max(apart, 1);
      if (factor > PINCH_STEP || factor < 1 / PINCH_STEP) {
        to.zoom(factor > 1 ? 1 : -1, middleOf(pointers));
        apart = now;
      }
    } else if (to.canPan()) to.pan({ x: at.x - before.x, y: at.y - before.y });
    else to.point(at);
  });
  const end = (event: PointerEvent): void => {
    pointers.delete(event.pointerId);
    apart = distance(pointers);
  };
  frame.addEventListener("pointerup", (event) => {
    const at = inFrame(event);
    const isClick = pressed !== null && Math.hypot(at.x - pressed.x, at.y - pressed.y) < LEAST_DRAG;
    pressed = null;
    clearTimeout(clicking);
    if (isClick) clicking = window.setTimeout(() => to.click(at), DOUBLE_MS);
  });
  for (const name of ["pointerup", "pointercancel"] as const) frame.addEventListener(name, end);
  frame.addEventListener("pointerleave", (event) => {
    if (!frame.hasPointerCapture(event.pointerId)) end(event);
    to.left();
  });
}

function distance(pointers: ReadonlyMap<number, Point>): number {
  const [first, second] = [...pointers.values()];
  return first && second ? Math.hypot(first.x - second.x, first.y - second.y) : 0;
}

function middleOf(pointers: ReadonlyMap<number, Point>): Point {
  const all = [...pointers.values()];
  const mean = (pick: (point: Point) => number): number => all.reduce((sum, point) => sum + pick(point), 0) / all.length;
  return { x: mean(({ x }) => x), y: mean(({ y }) => y) };
}
