/** Chooses the slice of a picture: row axis, column axis, a slider per other axis. */

import { el } from "../../parts/dom";
import { mountSlider } from "./slider";
import type { Slice } from "../../page/messages";
import type { TensorRecord } from "../../page/protocol";

const MOST_SLIDERS = 16;

type Chosen = Omit<Slice, "tensor">;

export interface Axes {
  /** The axes of rows and columns. */
  dom: HTMLElement;
  /** The indices along the other axes. */
  sliders: HTMLElement;
  /** Show controls for a tensor's axes; the channels of a colour picture have no slider. */
  show(tensor: TensorRecord, isColoured: boolean): void;
  chosen(): Chosen;
  /** Select these axes and indices, which must fit the tensor. */
  choose(chosen: Chosen): void;
  /** Select the slice that contains an element. */
  goTo(index: readonly number[]): void;
}

/** The default axes: the last two, or the two before the colour channels. */
export function planeOf(shape: readonly number[], channels: number | null): Pick<Slice, "rows" | "columns"> {
  const last = (channels ?? shape.length) - 1;
  return { rows: last >= 1 ? last - 1 : null, columns: last >= 0 ? last : null };
}

export function mountAxes(onChange: () => unknown): Axes {
  const dom = el("div", { class: "axes" });
  const cuts = el("div", { class: "axes" });
  let shape: number[] = [];
  let channels: number | null = null;
  let isColoured = false;
  let chosen: Chosen = { rows: null, columns: null, indices: [] };

  const redraw = (): void => {
    dom.replaceChildren();
    cuts.replaceChildren();
    if (shape.length < 2) return;
    if (shape.length > 2 && !isColoured) {
      dom.append(axisField("Rows", "rows"), axisField("Columns", "columns"));
    } else {
      dom.append(swapButton());
    }
    const isDrawn = (axis: number): boolean =>
      axis === chosen.rows || axis === chosen.columns || (isColoured && axis === channels);
    const sliders = [...shape.keys()].filter((axis) => !isDrawn(axis) && shape[axis] !== 1);
    for (const axis of sliders.slice(0, MOST_SLIDERS)) cuts.append(slider(axis, shape[axis] ?? 0));
    const left = sliders.length - MOST_SLIDERS;
    if (left > 0) cuts.append(el("p", {}, `${left} more axes stay at index 0`));
  };
  const axisField = (label: string, which: "rows" | "columns"): HTMLElement => {
    const select = el("select", { "aria-label": which === "rows" ? "Row axis" : "Column axis" });
    shape.forEach((length, axis) =>
      select.append(el("option", { value: axis }, `axis ${axis} (${length})`)),
    );
    select.value = String(chosen[which]);
    select.addEventListener("change", () => {
      const other = which === "rows" ? "columns" : "rows";
      const axis = Number(select.value);
      if (chosen[other] === axis) chosen[other] = chosen[which];
      chosen[which] = axis;
      redraw();
      onChange();
    });
    return el("label", { class: "field" }, `${label} `, select);
  };
  const swapButton = (): HTMLElement => {
    const swap = el("button", { type: "button", class: "quiet" }, "Swap rows and columns");
    swap.addEventListener("click", () => {
      [chosen.rows, chosen.columns] = [chosen.columns, chosen.rows];
      onChange();
    });
    return swap;
  };
  const slider = (axis: number, length: number): HTMLElement => {
    const one = mountSlider(`axis ${axis}`, `Index on axis ${axis}`, (value) => {
      chosen.indices[axis] = value;
      return onChange();
    });
    one.set(chosen.indices[axis] ?? 0, length);
    return one.dom;
  };
  return {
    dom,
    sliders: cuts,
    show: (tensor, nextColoured) => {
      const next = tensor.shape;
      const same = next.length === shape.length && next.every((n, axis) => n === shape[axis]);
      shape = next;
      channels = tensor.channels;
      isColoured = nextColoured;
      if (!same) chosen = { ...planeOf(shape, tensor.coloured ? channels : null), indices: shape.map(() => 0) };
      // The channels of a colour picture cannot be rows or columns.
      else if (isColoured && [chosen.rows, chosen.columns].includes(channels)) Object.assign(chosen, planeOf(shape, channels));
      redraw();
    },
    choose: (next) => {
      chosen = { ...next, indices: [...next.indices] };
      redraw();
    },
    goTo: (index) => {
      chosen.indices = shape.map((_, axis) => index[axis] ?? 0);
      redraw();
    },
    chosen: () => ({ ...chosen, indices: [...chosen.indices] }),
  };
}
