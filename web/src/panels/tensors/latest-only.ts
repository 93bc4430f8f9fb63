/** Sends one request at a time; of requests made meanwhile only the newest is sent. */

import type { Page } from "../../page/page";
import type { Details, RequestName, Value } from "../../page/messages";

export interface LatestOnly<Q extends RequestName> {
  /** Return the response, null if a newer request replaced this one. */
  request(details: Details<Q>): Promise<Value<Q> | null>;
}

export function latestOnly<Q extends RequestName>(page: Page, name: Q): LatestOnly<Q> {
  let last: Promise<unknown> = Promise.resolve();
  let newest = 0;
  return {
    request: (details) => {
      const mine = ++newest;
      const before = last;
      const response = (async () => {
        await before;
        return mine === newest ? page.request(name, details) : null;
      })();
      last = response.catch(() => undefined);
      return response;
    },
  };
}
