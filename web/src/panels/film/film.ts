/** The values of a name over the iterations of a loop: a slider, a picture, a chart of their range, and the difference to a pinned one. */

import { button, el } from "../../parts/dom";
import { chartLegend, mountChart } from "../../parts/chart";
import { count, tuple } from "../../parts/format";
import { focused } from "../../page/focus";
import { lineLink } from "../../parts/line-link";
import type { Page } from "../../page/page";
import type { FilmStep, LineResult, PlotSeries, TensorRecord } from "../../page/protocol";
import { originNote } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import type { Part, RunOrigin, View } from "../../page/view";
import { rangeOf } from "../tensors/facts";
import { mountSlider } from "../tensors/slider";
import { mountLitPicture } from "../why/lit-picture";
import "./film.css";

const INVITATION = "The values that a line makes in a loop are shown here one after another. Run a program first.";
const TRACED = "There are no values of this line: it ran only while a transformation such as jit or vmap recorded its function, or in a function whose result did not need them.";
const ASK = "Press “Look inside”: the program runs once more, and the values of each line are shown here.";
const NONE = "No line of the program makes a tensor more than once: put a line into a loop, and press Run.";

export function mountFilm(host: HTMLElement, page: Page): Part {
  const text = el("p", { class: "empty" }, INVITATION);
  const look = button("Look inside", () => page.run(null, { inside: true }), { class: "quiet", title: "Run the program once more, and retain the values of each line" });
  const offer = el("p", {}, look);
  const choice = el("select", { "aria-label": "Line" });
  const line = el("span", {});
  const pin = button("Pin", () => hold(), { class: "quiet", title: "Compare the following steps with this one" });
  const slider = mountSlider("step", "Step of the film", (step) => show(step));
  const title = el("p", { class: "film-title", role: "status" });
  const stage = el("div", { class: "film-stage" });
  const chart = mountChart();
  const legend = el("div");
  const histograms = el("figure", { class: "film-histogram" });
  const view = el("div", { class: "film", hidden: true }, el("div", { class: "film-choice" }, choice, line, pin), slider.dom, title, stage, chart.dom, legend, histograms);
  host.append(text, offer, view);
  /** The run that the film belongs to. */
  let drawn: RunOrigin | null = null;
  let steps: FilmStep[] = [];
  let pinned: FilmStep | null = null;
  let current = 0;
  /** The cell whose slice is drawn. */
  let cell: number[] = [];
  let generation = 0;
  /** The result of a line that the reader asked for. */
  let asked: LineResult | null = null;

  const films = ({ run }: View): [LineResult, number][] => (run?.lines ?? []).map((one, index): [LineResult, number] => [one, index]).filter(([one]) => one.count > 1 || isSame(one, asked));
  /** `at` is the step to show, by its count; null for the last one. */
  const open = async (index: number, at: number | null = null): Promise<void> => {
    const mine = ++generation;
    pinned = null;
    pin.textContent = "Pin";
    slider.stop();
    const result = page.view.run?.lines[index];
    if (!result) return;
    line.replaceChildren(lineLink(page, { line: result.line, file: result.file }));
    // What stayed inside kernels is computed now.
    text.textContent = "Computing the values of this line…";
    try {
      const found = await page.request("film", { result: index });
      if (mine !== generation) return;
      steps = found.steps;
      const first = steps[0]?.step;
      text.textContent = first === undefined ? TRACED : first > 0 ? `The values before step ${first} are not retained: the run computed more than fits.` : "";
      view.hidden = steps.length === 0;
      for (const part of [slider.dom, chart.dom, legend, histograms, pin]) part.hidden = steps.length < 2;
      const same = at === null ? -1 : steps.findIndex(({ step }) => step >= at);
      const position = same < 0 ? steps.length - 1 : same;
      slider.set(position, steps.length);
      histograms.replaceChildren(...histogramOf(found.histogram));
      const range = { title: "Range of the values by step", kind: "lines" as const, series: seriesOf(steps) };
      chart.draw(range);
      legend.replaceChildren(chartLegend(range) ?? "");
      await show(position);
    } catch (error) {
      if (mine === generation) text.textContent = messageOf(error);
    }
  };
  const show = async (at: number): Promise<void> => {
    const step = steps[at];
    if (!step) return;
    current = at;
    const film = { result: Number(choice.value), step: step.step, name: step.tensor.name };
    page.change({ focus: focused(page.view.focus, { film }) });
    const mine = generation;
    const isPair = pinned !== null && pinned !== step;
    let shown: TensorRecord = step.tensor;
    if (isPair && pinned) {
      const pair = await page.request("pair", { first: step.tensor.id, second: pinned.tensor.id });
      if (mine !== generation || current !== at) return;
      shown = pair.difference;
    }
    const what = isPair && pinned ? `step ${step.step} minus step ${pinned.step}` : `step ${step.step}`;
    title.textContent = `${what} · ${shown.dtype} ${tuple(shown.shape)} · ${rangeOf(shown)}`;
    // All steps show the slice that was chosen.
    if (cell.length !== shown.shape.length || !cell.every((at, axis) => at < (shown.shape[axis] ?? 0))) cell = shown.shape.map(() => 0);
    const ask = (index: number[]): void => page.why({ id: step.tensor.id, name: step.tensor.name, index });
    stage.replaceChildren(mountLitPicture(page, shown, cell, null, ask));
  };
  /** The histograms of all steps side by side; a click shows the step. */
  const histogramOf = (counts: TensorRecord | null): HTMLElement[] => {
    if (!counts) return [];
    const picture = mountLitPicture(page, counts, [0, 0], null, ([, column = 0]) => {
      slider.set(column, steps.length);
      void show(column);
    });
    return [picture, el("figcaption", {}, "Histogram of each step, from left to right; large values on top. A click shows the step.")];
  };
  /** Compare the following steps with the current one, or end that. */
  const hold = (): void => {
    pinned = pinned ? null : (steps[current] ?? null);
    pin.textContent = pinned ? `Unpin step ${pinned.step}` : "Pin";
    void show(current);
  };
  const start = (now: View): void => {
    const found = films(now);
    text.textContent = found.length > 0 ? "" : NONE;
    view.hidden = found.length === 0;
    choice.replaceChildren(...found.map(([one, index]) => el("option", { value: index }, `${one.name || "value"} · line ${one.line} · ${count(one.count, "time")}`)));
    const seen = asked ? null : (page.view.focus?.film ?? null);
    const first = found.find(([one, index]) => isSame(one, asked) || index === seen?.result) ?? found[0];
    if (!first) return;
    choice.value = String(first[1]);
    void open(first[1], seen?.result === first[1] ? seen.step : null);
  };
  choice.addEventListener("change", () => void open(Number(choice.value)));
  return {
    update: (now) => {
      const { run, phase, origins, state, held } = now;
      look.disabled = state === "running" || held;
      offer.hidden = !run || run.inside === true || films(now).length === 0;
      if (origins.tensors === drawn || phase !== "idle") return;
      drawn = origins.tensors;
      view.hidden = true;
      steps = [];
      text.textContent = run ? (films(now).length > 0 ? ASK : NONE) : INVITATION;
      if (run?.inside) start(now);
      else asked = null;
    },
    film: (result) => {
      page.show(host.id);
      const isKnown = page.view.run?.inside;
      if (!isKnown && !page.run(null, { inside: true })) return;
      asked = result;
      if (isKnown) start(page.view);
    },
    originNote: (now) => (view.hidden ? null : originNote(now, "tensors")),
  };
}

/** Whether two runs, or one, made a result in the same statement. */
function isSame(one: LineResult, other: LineResult | null): boolean {
  return other !== null && one.file === other.file && one.line === other.line && one.endLine === other.endLine && one.name === other.name;
}

/** The largest, mean and smallest value of each step. */
function seriesOf(steps: readonly FilmStep[]): PlotSeries[] {
  const x = steps.map(({ step }) => step);
  const series = (name: string, of: (tensor: TensorRecord) => number | null | undefined): PlotSeries => ({ name, x, y: steps.map(({ tensor }) => of(tensor) ?? null), count: x.length });
  const all = [series("largest", (one) => one.max), series("mean", (one) => one.mean), series("smallest", (one) => one.min)];
  return steps[0]?.tensor.size === 1 ? all.slice(1, 2) : all;
}
