/** Stops Python: by a signal while it computes, by ending the wait while it waits. */

import type { PyodideAPI } from "pyodide";

/** The interface that the library's driver uses around every wait; see docs/contributing/execution.md. */
interface InterruptContract {
  off(): void;
  on(): boolean;
  race<T>(promise: Promise<T>): Promise<T>;
}

declare global {
  var tensorwebInterrupt: InterruptContract | undefined;
}

const INTERRUPT = 2;

/**
 * The memory shared by page and worker, where sharing is possible. Word 0 is the signal for
 * Python, word 1 the id of the request that is to end. The id retains
 * a Stop that arrives before its request has begun, and protects the next request.
 *
 * A program that waits for a line, where Python cannot be suspended, waits at word 2. The
 * line's length is in word 3, followed by its UTF-16 units.
 */
export function newStopBuffer(): SharedArrayBuffer {
  return new SharedArrayBuffer(LINE + LONGEST_LINE * Uint16Array.BYTES_PER_ELEMENT);
}

const WAKE = 2;
const LENGTH = 3;
const LINE = 4 * Int32Array.BYTES_PER_ELEMENT;
const TYPED = 1;
const STOPPED = 2;

/** The greatest length of a typed line, in UTF-16 units. */
export const LONGEST_LINE = 10_000;

/** Request Stop from the page; works while Python computes. */
export function requestStop(shared: SharedArrayBuffer, id: number): void {
  const words = new Int32Array(shared);
  Atomics.store(words, 1, id);
  Atomics.store(words, 0, INTERRUPT);
  wake(words, STOPPED);
}

/** Send a line from the page to a program that waits at word 2. */
export function handLine(shared: SharedArrayBuffer, line: string): void {
  const words = new Int32Array(shared);
  const units = new Uint16Array(shared, LINE);
  const length = Math.min(line.length, LONGEST_LINE);
  for (let i = 0; i < length; i++) units[i] = line.charCodeAt(i);
  Atomics.store(words, LENGTH, length);
  wake(words, TYPED);
}

function wake(words: Int32Array, why: number): void {
  Atomics.store(words, WAKE, why);
  Atomics.notify(words, WAKE);
}

/**
 * The interrupt buffer that Pyodide polls. It reads element 0 and then clears it, in two steps; a Stop
 * between the two would be lost. Reading this element also clears it, in one step.
 */
function clearedByReading(words: Int32Array): Uint8Array {
  const buffer = {
    get 0() {
      return words[0] === 0 ? 0 : Atomics.exchange(words, 0, 0);
    },
    set 0(_) {
      // Pyodide's second step.
    },
  };
  return buffer as unknown as Uint8Array;
}

export class Interrupt {
  readonly #signal: Uint8Array;
  readonly #words: Int32Array;
  readonly #isShared: boolean;
  /** Saved at the start: a crashed Python throws at every access. */
  readonly #watch: (signal: Uint8Array | undefined) => void;
  #cancel: (() => void) | null = null;

  constructor(
    python: PyodideAPI,
    shared: SharedArrayBuffer | null,
  ) {
    this.#isShared = shared !== null;
    this.#words = new Int32Array(shared ?? new ArrayBuffer(LINE));
    this.#signal = clearedByReading(this.#words);
    this.#watch = python.setInterruptBuffer as (signal: Uint8Array | undefined) => void;
    globalThis.tensorwebInterrupt = {
      off: () => this.#watch(undefined),
      on: () => this.#arm(),
      race: (promise) => this.#race(promise),
    };
  }

  /** Discard Stop requests for other requests and watch for a new one. */
  begin(id = 0): void {
    Atomics.store(this.#words, WAKE, 0);
    this.#arm();
    if (id && this.isStopped(id)) Atomics.store(this.#words, 0, INTERRUPT);
  }

  /** Whether Stop was requested for this request, begun or not. */
  isStopped(id: number): boolean {
    return Atomics.load(this.#words, 1) === id;
  }

  /** End the watch, so that a late Stop does not hit later code. */
  end(): void {
    this.#watch(undefined);
    Atomics.store(this.#words, 0, 0);
    this.#cancel = null;
  }

  /** Record the page's Stop message, the only signal where memory is not shared. */
  remember(id: number): void {
    Atomics.store(this.#words, 1, id);
  }

  /**
   * Ask Python to stop; reaches it here only while it waits. Where memory is shared the
   * signal came before the message, and a signal that Python has taken is not repeated: it
   * would hit code that runs after the program.
   */
  cancel(): void {
    if (!this.#isShared) Atomics.store(this.#words, 0, INTERRUPT);
    if (Atomics.load(this.#words, 0) === INTERRUPT) this.#cancel?.();
  }

  /** Block until the reader has typed a line; undefined after Stop. */
  readLine(): string | undefined {
    const words = this.#words;
    for (;;) {
      if (Atomics.exchange(words, WAKE, 0) === TYPED) return this.#line();
      if (Atomics.exchange(words, 0, 0) === INTERRUPT) return undefined;
      Atomics.wait(words, WAKE, 0);
    }
  }

  #line(): string {
    const length = Math.min(Atomics.load(this.#words, LENGTH), LONGEST_LINE);
    return String.fromCharCode(...new Uint16Array(this.#words.buffer, LINE, length));
  }

  /** Watch for the signal again; return whether a request arrived in the meantime. */
  #arm(): boolean {
    const hit = Atomics.exchange(this.#words, 0, 0) === INTERRUPT;
    this.#watch(this.#signal);
    return hit;
  }

  /**
   * Wait for a promise or for Stop. Stop resolves the wait, because the signal identifies it and
   * Pyodide would print an unhandled rejection.
   */
  #race<T>(promise: Promise<T>): Promise<T> {
    const stopped = new Promise<T>((resolve) => {
      this.#cancel = () => resolve(undefined as T);
    });
    return Promise.race([promise, stopped]);
  }
}
