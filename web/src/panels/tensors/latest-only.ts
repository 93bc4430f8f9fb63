/** Sends one request at a time; of requests made meanwhile only the newest is sent. */

import type { Page } from "../../page/page";
import type { Details, RequestName, Value } from "../../page/messages";

export interface LatestOnly<Q extends RequestName> {
  /** Return the response, null if a newer request replaced this one. */
  ask(details: Details<Q>): Promise<Value<Q> | null>;
}

export function latestOnly<Q extends RequestName>(page: Page, question: Q): LatestOnly<Q> {
  let last: Promise<unknown> = Promise.resolve();
  let newest = 0;
  return {
    ask: (details) => {
      const mine = ++newest;
      const before = last;
      const answer = (async () => {
        await before;
        return mine === newest ? page.ask(question, details) : null;
      })();
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}
