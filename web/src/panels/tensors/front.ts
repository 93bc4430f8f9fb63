/** Chooses the display in front: the newest one, or the first one that was updated since. */

export interface ShowOrder {
  begin(): void;
  /** Add a new display. */
  add(display: number): void;
  /** Report an updated display; returns true if it is the followed one. */
  moves(display: number): boolean;
  /** Follow a display because the reader wants it. */
  choose(display: number): void;
  /** The display that is followed while the program runs. */
  moving(): number | null;
  newestFirst(): readonly number[];
}

export function showOrder(): ShowOrder {
  let order: number[] = [];
  let moving: number | null = null;
  let isChosen = false;
  const toFront = (display: number): void => {
    order = [display, ...order.filter((one) => one !== display)];
  };
  return {
    begin: () => {
      order = [];
      moving = null;
      isChosen = false;
    },
    add: (display) => {
      toFront(display);
      if (!isChosen) moving = null;
    },
    moves: (display) => {
      // Several displays would alternate in one picture, so the first one stays in front.
      if (moving === null || (display < moving && !isChosen)) {
        moving = display;
        toFront(display);
      }
      return display === moving;
    },
    choose: (display) => {
      moving = display;
      isChosen = true;
    },
    moving: () => moving,
    newestFirst: () => order,
  };
}
