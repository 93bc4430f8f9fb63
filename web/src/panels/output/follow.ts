/** Keeps the end of growing content in view until the reader scrolls away from it. */

import { button } from "../../parts/dom";

export interface Follower {
  /** Brings the end back into view; shown while new content is out of sight. */
  button: HTMLElement;
  begin(): void;
  /** Content was added. */
  grown(): void;
}

const NEAR = 24;

export function follow(host: HTMLElement, content: HTMLElement): Follower {
  let follows = true;
  let place = 0;
  const toEnd = (): void => {
    host.scrollTop = host.scrollHeight;
    place = host.scrollTop;
  };
  const back = button("↓ New output", () => {
    setFollows(true);
    toEnd();
    host.focus({ preventScroll: true });
  });
  back.classList.add("new-output");
  back.hidden = true;
  const setFollows = (now: boolean): void => {
    follows = now;
    if (now) back.hidden = true;
  };
  // The event of a scroll to the end comes late, when more content may have followed; but
  // only the reader ever scrolls backwards.
  const onScroll = (): void => {
    const isAtEnd = host.scrollHeight - host.scrollTop - host.clientHeight < NEAR;
    if (isAtEnd) setFollows(true);
    else if (host.scrollTop < place) setFollows(false);
    place = host.scrollTop;
  };
  host.addEventListener("scroll", onScroll);
  const sizes = new ResizeObserver(() => {
    if (follows) toEnd();
  });
  sizes.observe(content);
  sizes.observe(host);
  return {
    button: back,
    begin: () => setFollows(true),
    grown: () => {
      back.hidden = follows;
    },
  };
}
