/** Small pictures of the tensors that a program displayed, beside their text. */

import { el } from "../../parts/dom";
import { draw, unpack } from "./heatmap";
import type { TensorRecord } from "../../page/protocol";
import type { Session } from "../../page/session";

const MOST = 16;
const LEAST_ELEMENTS = 16;
const ROOM = { width: 180, height: 120, largestCell: 14 };

/** Draw each displayed tensor of some size into its card, one after another. */
export async function addThumbnails(
  host: HTMLElement,
  tensors: readonly TensorRecord[],
  session: Session,
): Promise<void> {
  const shown = tensors.filter((tensor) => tensor.displays.length > 0 && isPicture(tensor));
  for (const tensor of shown.slice(-MOST)) {
    const cards = tensor.displays
      .map((display) => host.querySelector<HTMLElement>(`[data-display="${display}"]`))
      .filter((card) => card !== null);
    if (cards.length === 0) continue;
    try {
      const last = tensor.shape.length - 1;
      const map = await session.ask("heatmap", {
        tensor: tensor.id,
        rows: last >= 1 ? last - 1 : null,
        columns: last,
        indices: tensor.shape.map(() => 0),
        how: "mean",
      });
      for (const card of cards) {
        if (!card.isConnected) return;
        const canvas = el("canvas", { class: "thumbnail", "aria-hidden": "true" });
        draw(canvas, unpack(map), ROOM);
        card.classList.add("with-thumbnail");
        card.append(canvas);
      }
    } catch {
      // The text is there; a run that began meanwhile has other tensors.
      return;
    }
  }
}

function isPicture({ size, shape, problem }: TensorRecord): boolean {
  return !problem && shape.length > 0 && size >= LEAST_ELEMENTS;
}
