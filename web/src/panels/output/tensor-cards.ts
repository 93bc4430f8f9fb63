/** A tensor that the program showed: one line of facts, its picture, digits on demand. */

import { button, el } from "../../parts/dom";
import { sizeOf } from "../../parts/format";
import type { Page } from "../../page/page";
import { whyUnavailable } from "../../page/run-origin";
import type { Display, LivePicture, TensorRecord } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { schemeOf, type Scheme } from "../../page/media";
import { originLine } from "../../parts/nonfinite";
import { flags, rangeOf } from "../tensors/facts";
import { mountSmallPictures } from "../tensors/small-pictures";
import { isPicture } from "../tensors/whole";
import { widths } from "./widths";
import type { View } from "../../page/view";

export interface TensorCards {
  /** Make the card of a display. */
  card(display: Display): HTMLElement;
  /** Update the cards with the tensors' records, in the page's colours. */
  update(view: View): void;
  /** Redraw an updated display. */
  picture(note: LivePicture): void;
  begin(): void;
}

interface Card {
  dom: HTMLElement;
  range: HTMLElement;
  digits: HTMLElement;
  /** The sentence about the origin of the first NaN. */
  made: HTMLElement | null;
  known: TensorRecord | null;
}

/** Tensors of fewer elements show their digits and no picture. */
const LEAST_ELEMENTS = 16;
const ROOM = { width: 120, height: 64 };

export function mountTensorCards(page: Page): TensorCards {
  const pictures = mountSmallPictures(page, "thumbnail", ROOM);
  let cards = new Map<number, Card>();
  let described: readonly TensorRecord[] | null = null;
  let scheme: Scheme | null = null;

  const describe = (card: Card, tensor: TensorRecord): void => {
    card.known = tensor;
    card.range.replaceChildren(rangeOf(tensor), ...flags({ ...tensor, problem: undefined }));
    // Before a search, the large pane has the button that starts it.
    const line = tensor.origins ? originLine(page, tensor) : null;
    card.made?.remove();
    card.made = line;
    if (line) card.dom.append(line);
    if (isPicture(tensor) && tensor.size >= LEAST_ELEMENTS) pictures.into(card.dom, tensor);
  };
  /** Show or hide the digits below the facts. */
  const toggle = async (display: number, digits: HTMLElement): Promise<void> => {
    const known = digits.querySelector("pre");
    const switcher = digits.querySelector("button");
    if (known) {
      known.remove();
      switcher?.setAttribute("aria-expanded", "false");
      return;
    }
    const text = await digitsOf(page, cards.get(display)?.known ?? null);
    digits.append(valueText(display, text));
    switcher?.setAttribute("aria-expanded", "true");
  };
  return {
    card: ({ display, name, text, facts }) => {
      const look = { class: "display-name", title: "Look into this tensor" };
      const range = el("span", { class: "display-range" });
      const digits = el("div", { class: "digits" });
      if (text) digits.append(valueText(display, text));
      else {
        const open = { class: "quiet", "aria-expanded": "false", title: "Show the digits" };
        digits.append(button("Digits", () => void toggle(display, digits), open));
      }
      const head = el(
        "div",
        { class: "display-facts" },
        button(name ?? "tensor", () => page.inspect(display), look),
        el("span", { class: "display-type" }, facts),
        range,
      );
      const dom = el("div", { class: "display tensor-card", "data-display": display }, head, digits);
      cards.set(display, { dom, range, digits, made: null, known: null });
      return dom;
    },
    update: (view) => {
      if (view.tensors !== described) {
        described = view.tensors;
        for (const tensor of described) {
          for (const display of tensor.displays) {
            const card = cards.get(display);
            if (card && view.origins.tensors === view.origins.output) describe(card, tensor);
          }
        }
      } else if (schemeOf(view) !== scheme) pictures.recolour(schemeOf(view));
      scheme = schemeOf(view);
    },
    picture: ({ display, step, dtype, shape, heatmap }) => {
      const card = cards.get(display);
      if (!card) return;
      if (step > 1) card.range.textContent = `shown ${step.toLocaleString("en-US")} times`;
      if (heatmap.rows > 0) pictures.put(card.dom, heatmap, { dtype, shape, size: sizeOf(shape) });
    },
    begin: () => {
      cards = new Map();
    },
  };
}

function valueText(display: number, text: string): HTMLElement {
  const label = { role: "region", "aria-label": `Value of display ${display + 1}` };
  const body = el("pre", { class: "text", ...label }, text);
  widths.observe(body);
  return body;
}

/** Request the digits, or show why they are not available. */
async function digitsOf(page: Page, tensor: TensorRecord | null): Promise<string> {
  const reason = whyUnavailable(page.view, "tensors", "tensor", "digits");
  if (reason || !tensor) return reason ?? "The digits are available once the program has ended.";
  try {
    return (await page.request("text", { tensor: tensor.id })).text;
  } catch (error) {
    return messageOf(error);
  }
}
