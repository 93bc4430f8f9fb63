/** Thumbnails of tensors, requested one after another when they become visible. */

import { el } from "../../parts/dom";
import { drawSmallCurve, isLine } from "./curve";
import { decodeHeatmap, drawWhole } from "./heatmap";
import type { Page } from "../../page/page";
import type { Heatmap, TensorRecord } from "../../page/protocol";
import { schemeOf, type Scheme } from "../../page/media";
import type { Size } from "./viewport";
import { wholeOf } from "./whole";

export interface SmallPictures {
  /** Draw a tensor's thumbnail into an element when that becomes visible. */
  into(host: HTMLElement, tensor: TensorRecord): void;
  /** Draw a picture that was already received. */
  put(host: HTMLElement, map: Heatmap, tensor: Seen): void;
  /** Redraw all in the page's colours. */
  recolour(scheme: Scheme): void;
}

/** The arguments of a drawing. */
type Seen = Pick<TensorRecord, "shape" | "size" | "dtype">;

const maps = new WeakMap<TensorRecord, Promise<Heatmap>>();
let last: Promise<unknown> = Promise.resolve();

/** Request each picture once, one request at a time. */
function mapOf(page: Page, tensor: TensorRecord): Promise<Heatmap> {
  const known = maps.get(tensor);
  if (known) return known;
  const before = last;
  const request = (async () => {
    await before;
    return page.request("heatmap", wholeOf(tensor));
  })();
  last = request.catch(() => undefined);
  maps.set(tensor, request);
  return request;
}

/** Prepare to draw into elements with a canvas of this class, as large as some room. */
export function mountSmallPictures(page: Page, name: string, room: Size): SmallPictures {
  const waiting = new WeakMap<Element, TensorRecord>();
  let drawn: { host: HTMLElement; map: Heatmap; tensor: Seen }[] = [];

  const draw = (host: HTMLElement, map: Heatmap, tensor: Seen): void => {
    const known = host.querySelector<HTMLCanvasElement>(`canvas.${name}`);
    const canvas = known ?? el("canvas", { class: name, "aria-hidden": "true" });
    const picture = decodeHeatmap(map, tensor.dtype, schemeOf(page.view));
    (isLine(tensor) ? drawSmallCurve : drawWhole)(canvas, picture, room);
    if (!known) host.append(canvas);
  };
  const put = (host: HTMLElement, map: Heatmap, tensor: Seen): void => {
    draw(host, map, tensor);
    drawn = [...drawn.filter((one) => one.host !== host && one.host.isConnected), { host, map, tensor }];
  };
  const sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const tensor = waiting.get(target);
      if (!isIntersecting || !tensor) continue;
      sight.unobserve(target);
      waiting.delete(target);
      mapOf(page, tensor).then(
        (map) => {
          if (target.isConnected) put(target as HTMLElement, map, tensor);
        },
        // Its facts are already shown; a run that has started since has other tensors.
        () => undefined,
      );
    }
  });
  return {
    into: (host, tensor) => {
      waiting.set(host, tensor);
      sight.observe(host);
    },
    put,
    recolour: () => {
      drawn = drawn.filter(({ host }) => host.isConnected);
      for (const { host, map, tensor } of drawn) draw(host, map, tensor);
    },
  };
}
