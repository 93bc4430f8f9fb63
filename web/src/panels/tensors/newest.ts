/** Sends one request at a time; of requests made meanwhile only the newest is sent. */

import type { Page } from "../../page/page";
import type { Question, Questions } from "../../page/protocol";

export interface Newest<Q extends Question> {
  /** Return the response, null if a newer request replaced this one. */
  ask(details: Questions[Q]["details"]): Promise<Questions[Q]["value"] | null>;
}

export function newestOf<Q extends Question>(page: Page, question: Q): Newest<Q> {
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
