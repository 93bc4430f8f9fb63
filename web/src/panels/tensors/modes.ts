/** The view mode of a tensor: a heat map, a colour picture, a curve, a table, or its layout. */

import { button, el } from "../../parts/dom";
import type { Mode } from "../../page/view-settings";
import type { TensorRecord } from "../../page/protocol";
import { isLine } from "./curve";

export interface Modes {
  dom: HTMLElement;
  mode(): Mode;
  /** Select a mode that the tensor allows. */
  choose(mode: Mode): void;
  /** Offer the modes that a tensor allows; if the current one is not allowed, select the default. */
  offer(tensor: TensorRecord): void;
}

const LABELS: readonly { mode: Mode; label: string; title: string }[] = [
  { mode: "colours", label: "Colours", title: "The last axis as red, green and blue" },
  { mode: "curve", label: "Curve", title: "The numbers over their indices" },
  { mode: "cells", label: "Picture", title: "A cell for each number" },
  { mode: "table", label: "Table", title: "The exact numbers" },
  { mode: "layout", label: "Layout", title: "Where the elements lie in memory" },
];

export function mountModes(change: (mode: Mode) => void): Modes {
  let mode: Mode = "cells";
  let kind = "";
  const buttons = LABELS.map(({ mode: own, label, title }) => ({
    own,
    node: button(label, () => (choose(own), change(mode)), { class: "quiet", title }),
  }));
  const dom = el("div", { class: "viewer-views", role: "group", "aria-label": "View" }, ...buttons.map(({ node }) => node));
  const choose = (next: Mode): void => {
    mode = next;
    for (const { own, node } of buttons) node.setAttribute("aria-pressed", String(own === mode));
  };
  choose(mode);
  return {
    dom,
    mode: () => mode,
    choose,
    offer: (tensor) => {
      const { channels, coloured } = tensor;
      const hasCurve = isLine(tensor);
      for (const { own, node } of buttons) {
        // One of the two buttons or a placeholder is shown, so that the others do not move.
        if (own === "curve") node.hidden = !hasCurve;
        if (own === "colours") node.hidden = hasCurve;
        if (own === "colours") node.classList.toggle("unseen", channels === null);
        // Next to “Colours”, cells show the channels unmixed.
        if (own === "cells") node.textContent = hasCurve ? "Bar" : channels === null ? "Picture" : "Numbers";
      }
      const now = `${channels} ${coloured} ${hasCurve}`;
      const usual = coloured ? "colours" : hasCurve ? "curve" : "cells";
      if (now !== kind && mode !== "table" && mode !== "layout") choose(usual);
      else if ((mode === "colours" && channels === null) || (mode === "curve" && !hasCurve)) choose(usual);
      kind = now;
    },
  };
}
