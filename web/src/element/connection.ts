/** The page's side of the runtime: one hidden frame for a site, shared by all elements of a page. */

import { PROTOCOL, type FromRuntime, type Hello, type RunEvent, type RunMessage, type ToRuntime } from "./messages";

/** A frame that has loaded answers at once; a blocked one never does. */
const PATIENCE_MS = 10_000;

const runtimes = new Map<string, Runtime>();

/** Return the runtime of a site, whose folder this is; nothing is loaded before the first run. */
export function runtimeAt(base: string): Runtime {
  const known = runtimes.get(base) ?? new Runtime(base);
  runtimes.set(base, known);
  return known;
}

export class Runtime {
  readonly #listeners = new Map<number, (event: RunEvent) => void>();
  #frame: HTMLIFrameElement | null = null;
  #port: Promise<MessagePort> | null = null;
  #next = 1;

  constructor(readonly base: string) {}

  /** Run a program; `listen` is called with everything that happens to it. Returns its id. */
  run(program: Omit<RunMessage, "run">, listen: (event: RunEvent) => void): number {
    const run = this.#next++;
    this.#listeners.set(run, listen);
    // A page that replaces its content removes the frame, and Python with it.
    if (!this.#frame?.isConnected) this.#lose("The page has removed the frame in which Python ran.", run);
    this.#port ??= this.#open();
    this.#port.then(
      (port) => port.postMessage({ run, ...program } satisfies ToRuntime),
      (error: Error) => this.#lose(error.message),
    );
    return run;
  }

  stop(run: number): void {
    void this.#port?.then((port) => port.postMessage({ stop: run } satisfies ToRuntime), () => undefined);
  }

  /** Send the line for which a program waits. */
  type(line: string): void {
    void this.#port?.then((port) => port.postMessage({ typed: line } satisfies ToRuntime), () => undefined);
  }

  /** End every run but one, and start with another frame. */
  #lose(message: string, except = 0): void {
    this.#frame?.remove();
    this.#frame = null;
    this.#port = null;
    for (const [run, listen] of [...this.#listeners]) {
      if (run === except) continue;
      this.#listeners.delete(run);
      listen({ kind: "trouble", message });
      listen({ kind: "done" });
    }
  }

  #open(): Promise<MessagePort> {
    const address = new URL("runtime/", this.base);
    const frame = document.createElement("iframe");
    frame.title = "Python of this page";
    frame.hidden = true;
    // The page's own styles may show what is hidden.
    frame.style.display = "none";
    frame.src = address.href;
    this.#frame = frame;
    const { port1, port2 } = new MessageChannel();
    const opened = new Promise<MessagePort>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why} ${address.href}`));
      const onViolation = ({ effectiveDirective, blockedURI }: SecurityPolicyViolationEvent): void => {
        if (effectiveDirective === "frame-src" && address.href.startsWith(blockedURI)) {
          fail("This page’s policy needs the host of the runtime in frame-src:");
        }
      };
      document.addEventListener("securitypolicyviolation", onViolation);
      port1.addEventListener("message", ({ data }: MessageEvent<FromRuntime>) => {
        if (!("ready" in data)) return this.#receive(data.run, data.event);
        document.removeEventListener("securitypolicyviolation", onViolation);
        if (data.ready === PROTOCOL) resolve(port1);
        else fail("The element and its runtime are of different versions:");
      });
      port1.start();
      frame.addEventListener("load", () => {
        frame.contentWindow?.postMessage({ tensorweb: PROTOCOL } satisfies Hello, address.origin, [port2]);
        setTimeout(() => fail("The runtime does not answer:"), PATIENCE_MS);
      }, { once: true });
    });
    document.body.append(frame);
    return opened;
  }

  #receive(run: number, event: RunEvent): void {
    const listen = this.#listeners.get(run);
    if (event.kind === "done") this.#listeners.delete(run);
    listen?.(event);
  }
}
