/** Keeps the end of growing content in view until the reader scrolls away from it. */

import { button } from "../../parts/dom";

export interface AutoScroll {
  /** Brings the end back into view; shown while new content is out of sight. */
  button: HTMLElement;
  begin(): void;
  /** Content was added. */
  grown(): void;
}

const NEAR = 24;

export function autoScroll(host: HTMLElement, content: HTMLElement): AutoScroll {
  let isActive = true;
  let lastTop = 0;
  const toEnd = (): void => {
    host.scrollTop = host.scrollHeight;
    lastTop = host.scrollTop;
  };
  const back = button("↓ New output", () => {
    setActive(true);
    toEnd();
    host.focus({ preventScroll: true });
  });
  back.classList.add("new-output");
  back.hidden = true;
  const setActive = (now: boolean): void => {
    isActive = now;
    if (now) back.hidden = true;
  };
  // The scroll event arrives late, when more content may have been added; but
  // only the reader ever scrolls backwards.
  const onScroll = (): void => {
    const isAtEnd = host.scrollHeight - host.scrollTop - host.clientHeight < NEAR;
    if (isAtEnd) setActive(true);
    else if (host.scrollTop < lastTop) setActive(false);
    lastTop = host.scrollTop;
  };
  host.addEventListener("scroll", onScroll);
  const sizes = new ResizeObserver(() => {
    if (isActive) toEnd();
  });
  sizes.observe(content);
  sizes.observe(host);
  return {
    button: back,
    begin: () => setActive(true),
    grown: () => {
      back.hidden = isActive;
    },
  };
}
