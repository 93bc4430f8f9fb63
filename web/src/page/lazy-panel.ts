/** Panels whose script is loaded when they are first shown or asked something. */

import type { Panel } from "./page";
import { messageOf } from "./session";
import type { Part } from "./view";

/** Return a mount function that loads the real one; the panel's style sheets must be there already. */
export function lazily(load: () => Promise<Panel["mount"]>): Panel["mount"] {
  return (host, page) => {
    let part: Part | null = null;
    let loading: Promise<Part> | null = null;
    const use = (act: (part: Part) => void): void => {
      if (part) return act(part);
      loading ??= load().then((mount) => (part = mount(host, page)));
      loading.then(act).catch((error: unknown) => {
        loading = null;
        page.warn(messageOf(error));
      });
    };
    return {
      // Meanwhile the state may have changed.
      update: (view) => (part ? part.update(view) : use((ready) => ready.update(page.view))),
      why: (cell) => use((ready) => ready.why?.(cell)),
      film: (result) => use((ready) => ready.film?.(result)),
      originNote: (view) => part?.originNote?.(view) ?? null,
    };
  };
}
