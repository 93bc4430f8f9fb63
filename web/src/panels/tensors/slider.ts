/** A slider for an index or a step in time, with its value and a play button. */

import { button, el } from "../../parts/dom";

export interface Slider {
  dom: HTMLElement;
  /** Set the count of steps and the current step. */
  set(value: number, length: number): void;
  /** Stop playing. */
  stop(): void;
}

/** Minimum time per step while playing. */
const LEAST_MS = 40;

/**
 * Make a slider; `change` is called with each new value, and its promise is awaited
 * before the next one is played.
 */
export function mountSlider(name: string, label: string, change: (value: number) => unknown): Slider {
  const range = el("input", { type: "range", min: 0, "aria-label": label });
  const number = el("input", { type: "number", min: 0, "aria-label": `${label}, as a number` });
  const total = el("span", { class: "slider-total" });
  const play = button("▶", () => (isPlaying ? stop() : void run()), { class: "quiet play" });
  const dom = el("div", { class: "slider" }, el("span", {}, name), play, range, number, total);
  let value = 0;
  let length = 1;
  let isPlaying = false;

  const say = (): void => {
    play.textContent = isPlaying ? "❚❚" : "▶";
    play.setAttribute("aria-label", `${isPlaying ? "Pause" : "Play"} ${name}`);
    play.title = `${isPlaying ? "Pause" : "Play"} (Space on the slider)`;
  };
  const draw = (): void => {
    range.value = number.value = String(value);
  };
  const go = (to: number): unknown => {
    const next = Math.min(Math.max(Math.trunc(to) || 0, 0), length - 1);
    const isNew = next !== value;
    value = next;
    draw();
    return isNew ? change(value) : undefined;
  };
  const stop = (): void => {
    isPlaying = false;
    say();
  };
  const run = async (): Promise<void> => {
    isPlaying = true;
    say();
    while (isPlaying && dom.isConnected) {
      const rest = new Promise((done) => setTimeout(done, LEAST_MS));
      await go(value + 1 < length ? value + 1 : 0);
      await rest;
    }
    stop();
  };
  range.addEventListener("input", () => {
    stop();
    go(Number(range.value));
  });
  range.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    play.click();
  });
  number.addEventListener("change", () => {
    stop();
    go(Number(number.value));
  });
  say();
  return {
    dom,
    stop,
    set: (to, size) => {
      length = Math.max(size, 1);
      value = Math.min(to, length - 1);
      range.max = number.max = String(length - 1);
      total.textContent = `of ${length}`;
      draw();
    },
  };
}
