/** The worker's private channel to the page: a program in the same worker cannot access it. */

import type { FromWorker, ToWorker } from "../page/messages";

export type Send = (message: FromWorker) => void;

type Receive = (message: ToWorker) => void;

/**
 * Take the port that the page sends and forward its messages. Every function that is
 * called later is bound here, before any program runs, so that changed prototypes see
 * neither the port nor a message's event, which names the port.
 */
export function openChannel({ ports: [port] }: MessageEvent, receive: Receive): Send {
  const getter = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data")?.get;
  if (!getter) throw new Error("this browser's messages have no data");
  if (!port) throw new Error("the page hands a port over");
  const dataOf = Function.prototype.call.bind(getter) as (event: MessageEvent) => unknown;
  const send = port.postMessage.bind(port);
  port.onmessage = (message) => receive(dataOf(message) as ToWorker);
  return send;
}

/** Replace a function of the worker's global object for good. */
export function replaceGlobal(name: "postMessage" | "close", value: () => void): void {
  const own = { value, writable: false, configurable: false };
  let holder: object | null = self;
  Object.defineProperty(holder, name, own);
  while ((holder = Object.getPrototypeOf(holder) as object | null)) {
    if (Object.hasOwn(holder, name)) Object.defineProperty(holder, name, own);
  }
}

const MOST_MESSAGES = 10_000;
const MESSAGES_PER_MS = 5;
const MOST_CHARACTERS = 16_000_000;
const CHARACTERS_PER_MS = 2000;

/**
 * Return a function that reports whether a program sends more than a page can show: more
 * at once, or more over time, than the fastest printing. Programs cannot change its clock.
 */
export function rateLimit(charactersPerMs = CHARACTERS_PER_MS): (characters: number) => boolean {
  const now = performance.now.bind(performance);
  const { min } = Math;
  let last = now();
  let messages = MOST_MESSAGES;
  let room = MOST_CHARACTERS;
  return (characters) => {
    const time = now();
    messages = min(MOST_MESSAGES, messages + (time - last) * MESSAGES_PER_MS) - 1;
    room = min(MOST_CHARACTERS, room + (time - last) * charactersPerMs) - characters;
    last = time;
    return messages < 0 || room < 0;
  };
}
