/** Closes resources that programs open in JavaScript (timers, workers, channels) after a run. */

import { closeRealm } from "./closed-realm";

/** Classes whose objects are resources, and the method that closes them. */
const OPENED: Readonly<Record<string, string>> = {
  BroadcastChannel: "close",
  EventSource: "close",
  MessagePort: "close",
  WebSocket: "close",
  WebTransport: "close",
  Worker: "terminate",
  XMLHttpRequest: "abort",
};

/** Functions that return a resource's id, and the function that cancels it. */
const SCHEDULED = [
  ["setTimeout", "clearTimeout"],
  ["setInterval", "clearInterval"],
  ["requestAnimationFrame", "cancelAnimationFrame"],
] as const;

type Action = (...given: unknown[]) => unknown;
type Globals = Record<string, unknown>;
const globals = globalThis as unknown as Globals;

/**
 * Watch resources that are opened from now on; the returned function closes them. The
 * page's own code saved its functions before. Promises cannot be cancelled.
 */
export function watchPrograms(): () => void {
  const ends = [...SCHEDULED.map(watchNumbers), watchOpened(), watchListeners()];
  return () => {
    for (const end of ends) end();
  };
}

function watchNumbers([schedule, end]: (typeof SCHEDULED)[number]): () => void {
  const plain = globals[schedule] as Action | undefined;
  const stop = globals[end] as Action | undefined;
  if (!plain || !stop) return () => undefined;
  const pending = new Set<unknown>();
  const isOnce = schedule !== "setInterval";
  globals[schedule] = (action: unknown, ...rest: unknown[]): unknown => {
    const doing = (...given: unknown[]): unknown => {
      if (isOnce) pending.delete(number);
      return Reflect.apply(action as Action, globalThis, given);
    };
    const number = plain(typeof action === "function" ? doing : action, ...rest);
    pending.add(number);
    return number;
  };
  globals[end] = (number: unknown): void => {
    pending.delete(number);
    stop(number);
  };
  return () => {
    for (const number of pending) stop(number);
    pending.clear();
  };
}

/** Watch constructors, and the realms of workers. Unreferenced idle objects may be collected. */
function watchOpened(): () => void {
  let open: { made: WeakRef<object>; end: Action }[] = [];
  const keep = (name: string): ((made: object) => void) => {
    const { prototype } = globals[name] as { prototype: Record<string, Action> };
    const end = prototype[OPENED[name] ?? ""];
    return (made) => end && open.push({ made: new WeakRef(made), end });
  };
  for (const name of Object.keys(OPENED)) {
    const plain = globals[name] as (new (...given: unknown[]) => object) | undefined;
    if (!plain || name === "Worker" || name === "MessagePort") continue;
    const note = keep(name);
    globals[name] = watched(plain, note);
  }
  closeRealm(keep("Worker"));
  const note = keep("MessagePort");
  globals["MessageChannel"] = watched(MessageChannel, (made) => {
    const { port1, port2 } = made as MessageChannel;
    note(port1);
    note(port2);
  });
  return () => {
    const ended = open;
    open = [];
    for (const { made, end } of ended) {
      const it = made.deref();
      if (it) Reflect.apply(end, it, []);
    }
  };
}

function watched<T extends new (...given: never[]) => object>(plain: T, note: (made: object) => void): T {
  return new Proxy(plain, {
    construct(target, given, self) {
      const made = Reflect.construct(target, given, self) as object;
      note(made);
      return made;
    },
  });
}

/** Watch listeners of this worker itself; listeners of other targets end with their targets. */
function watchListeners(): () => void {
  const { addEventListener, removeEventListener } = EventTarget.prototype;
  let added: Parameters<typeof addEventListener>[] = [];
  EventTarget.prototype.addEventListener = function (...given) {
    Reflect.apply(addEventListener, this, given);
    if (this === undefined || this === globalThis) added.push(given);
  };
  const handlers = namesOf(globalThis).filter((name) => name.startsWith("on"));
  return () => {
    for (const [type, listener, options] of added) removeEventListener.call(globalThis, type, listener, options);
    added = [];
    for (const name of handlers) globals[name] = null;
  };
}

/** Property names of an object and of its prototypes. */
function namesOf(object: object): string[] {
  const names: string[] = [];
  for (let holder: object | null = object; holder; holder = Object.getPrototypeOf(holder) as object | null) {
    names.push(...Object.getOwnPropertyNames(holder));
  }
  return names;
}
