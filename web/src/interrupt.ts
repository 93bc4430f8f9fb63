/** Stopping Python: an interrupt byte while it runs, a wait that ends while it waits. */

import type { PyodideAPI } from "pyodide";

/** What the library's driver uses around every wait; see docs/architecture.md. */
interface InterruptContract {
  off(): void;
  on(): boolean;
  race<T>(promise: Promise<T>): Promise<T>;
}

declare global {
  var tensorwebInterrupt: InterruptContract | undefined;
}

const INTERRUPT = 2;

export class Interrupt {
  readonly #byte: Uint8Array;
  #cancel: (() => void) | null = null;

  constructor(
    readonly python: PyodideAPI,
    shared: SharedArrayBuffer | null,
  ) {
    this.#byte = new Uint8Array(shared ?? new ArrayBuffer(1));
    globalThis.tensorwebInterrupt = {
      off: () => python.setInterruptBuffer(undefined as unknown as Uint8Array),
      on: () => this.#arm(),
      race: (promise) => this.#race(promise),
    };
  }

  /** Forget an old request and watch for a new one. */
  begin(): void {
    this.#byte[0] = 0;
    this.#arm();
  }

  /** End the watch: what runs next must not be hit by a late request. */
  end(): void {
    this.python.setInterruptBuffer(undefined as unknown as Uint8Array);
    this.#byte[0] = 0;
    this.#cancel = null;
  }

  /** Ask Python to stop; reaches it here only while it waits. */
  cancel(): void {
    this.#byte[0] = INTERRUPT;
    this.#cancel?.();
  }

  /** Watch the byte again; return whether a request came in meanwhile. */
  #arm(): boolean {
    const hit = this.#byte[0] === INTERRUPT;
    this.#byte[0] = 0;
    this.python.setInterruptBuffer(this.#byte);
    return hit;
  }

  /**
   * Wait for a promise or for Stop. Stop resolves: the byte says what happened, and
   * Pyodide would print a rejection that nobody looks at.
   */
  #race<T>(promise: Promise<T>): Promise<T> {
    const stopped = new Promise<T>((resolve) => {
      this.#cancel = () => resolve(undefined as T);
    });
    return Promise.race([promise, stopped]);
  }
}
