/** Small pictures of the tensors that a program displayed, beside their text. */

import { el } from "../../parts/dom";
import { decodeHeatmap, draw } from "./heatmap";
import type { Page } from "../../page/page";
import type { Heatmap, TensorRecord } from "../../page/protocol";
import type { Scheme } from "../../page/media";

const MOST = 16;
const LEAST_ELEMENTS = 16;
const ROOM = { width: 180, height: 120, largestCell: 14 };

export interface Thumbnails {
  /** Draw those of a list of tensors, or the same ones in other colours. */
  show(tensors: readonly TensorRecord[], scheme: Scheme): void;
}

/** Draw displayed tensors of some size into their cards, which are inside `host`. */
export function mountThumbnails(host: HTMLElement, page: Page): Thumbnails {
  let shown: readonly TensorRecord[] | null = null;
  let scheme: Scheme | null = null;
  let drawn: { canvas: HTMLCanvasElement; map: Heatmap }[] = [];

  /** Ask for one map after another; a list that is shown meanwhile ends this one. */
  const add = async (tensors: readonly TensorRecord[], colours: Scheme): Promise<void> => {
    const pictures = tensors.filter((tensor) => tensor.displays.length > 0 && isPicture(tensor));
    for (const tensor of pictures.slice(-MOST)) {
      const cards = tensor.displays
        .map((display) => host.querySelector<HTMLElement>(`[data-display="${display}"]`))
        .filter((card) => card !== null);
      if (cards.length === 0) continue;
      const map = await page.ask("heatmap", wholeOf(tensor));
      for (const card of cards) {
        if (!card.isConnected) return;
        const canvas = el("canvas", { class: "thumbnail", "aria-hidden": "true" });
        draw(canvas, decodeHeatmap(map, scheme ?? colours), ROOM);
        drawn.push({ canvas, map });
        card.classList.add("with-thumbnail");
        card.append(canvas);
      }
    }
  };
  return {
    show: (tensors, colours) => {
      if (tensors !== shown) {
        drawn = [];
        // The text is there; a run that began meanwhile has other tensors.
        add(tensors, colours).catch(() => undefined);
      } else if (colours !== scheme) {
        for (const { canvas, map } of drawn) draw(canvas, decodeHeatmap(map, colours), ROOM);
      }
      shown = tensors;
      scheme = colours;
    },
  };
}

function wholeOf({ id, shape }: TensorRecord) {
  const last = shape.length - 1;
  return {
    tensor: id,
    rows: last >= 1 ? last - 1 : null,
    columns: last,
    indices: shape.map(() => 0),
    how: "mean" as const,
  };
}

function isPicture({ size, shape, problem }: TensorRecord): boolean {
  return !problem && shape.length > 0 && size >= LEAST_ELEMENTS;
}
