/** The page's side of the worker: questions with answers, one run at a time, restart. */

import { newStopBuffer, requestStop } from "./interrupt";
import type {
  DeviceName,
  FromWorker,
  Note,
  Question,
  Questions,
  RunRecord,
  Started,
  TensorRecord,
} from "./protocol";

export type State = "loading" | "ready" | "running" | "error";

export interface SessionEvents {
  state(state: State): void;
  note(note: Note): void;
  started(started: Started): void;
  queued(isQueued: boolean): void;
  begin(): void;
  finished(record: RunRecord): void;
  tensors(tensors: TensorRecord[]): void;
  /** Something outside the program went wrong; `lost` when Python had to restart. */
  trouble(message: string): void;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const PATIENCE_ISOLATED = 3000;
const PATIENCE_ALONE = 1200;

export class Session {
  started: Started | null = null;
  state: State = "loading";
  device: DeviceName = "webgpu";
  #worker: Worker | null = null;
  #interrupt: SharedArrayBuffer | null = null;
  #waiting = new Map<number, Waiting>();
  #next = 1;
  #newest = 0;
  #queued: string | null = null;
  #stopping = 0;
  #shownError = false;

  constructor(readonly events: SessionEvents) {}

  /** Start a worker with Python; a queued run begins when it is ready. */
  async start(): Promise<void> {
    this.#setState("loading");
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker = worker;
    worker.addEventListener("message", (event: MessageEvent<FromWorker>) => {
      if (this.#worker === worker) this.#receive(event.data);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.#worker === worker) this.#lose(event.message || "the worker did not load");
    });
    this.#interrupt = globalThis.crossOriginIsolated ? newStopBuffer() : null;
    try {
      this.started = await this.ask("start", { interrupt: this.#interrupt });
    } catch (error) {
      if (this.#worker !== worker) return;
      this.#setState("error");
      this.events.trouble(`Python could not start: ${messageOf(error)}`);
      return;
    }
    if (!this.started.adapter) this.device = "cpu";
    this.events.started(this.started);
    this.#setState(this.#shownError ? "error" : "ready");
    if (this.#queued !== null) await this.run(this.#queued);
  }

  /** Run a program now, or as soon as Python is ready. */
  async run(source: string): Promise<void> {
    if (this.state === "running") return;
    if (this.state === "loading" || !this.started) {
      this.#queued = source;
      this.events.queued(true);
      if (this.state === "error") void this.restart();
      return;
    }
    this.#queued = null;
    this.events.queued(false);
    const worker = this.#worker;
    this.#setState("running");
    this.events.begin();
    try {
      const record = await this.ask("run", { source, device: this.device });
      if (this.#worker !== worker) return;
      this.events.finished(record);
      this.events.tensors(await this.ask("describe", {}));
      this.#finish(record.error !== null);
    } catch (error) {
      if (this.#worker !== worker) return;
      this.events.trouble(messageOf(error));
      this.#finish(true);
    }
  }

  /** Stop the program: by interrupt, at its next wait, or with a new worker. */
  stop(): void {
    if (this.#queued !== null) {
      this.#queued = null;
      this.events.queued(false);
    }
    if (this.state !== "running") return;
    if (this.#stopping) return this.#force();
    if (this.#interrupt) requestStop(this.#interrupt, this.#newest);
    this.#worker?.postMessage({ cancel: this.#newest });
    const patience = this.#interrupt ? PATIENCE_ISOLATED : PATIENCE_ALONE;
    this.#stopping = window.setTimeout(() => this.#force(), patience);
  }

  /** The last resort, after patience or a second Stop: a new Python. */
  #force(): void {
    clearTimeout(this.#stopping);
    this.#stopping = 0;
    if (this.state !== "running") return;
    this.events.trouble(
      "The program did not react to Stop, so Python was restarted. Your code is as it was.",
    );
    this.#shownError = true;
    void this.restart();
  }

  /** Throw Python away and start it again; the page keeps everything it shows. */
  async restart(): Promise<void> {
    this.dispose();
    await this.start();
  }

  /** Ask the worker; the answer comes after everything asked before. */
  ask<Q extends Question>(
    question: Q,
    details: Questions[Q]["details"],
  ): Promise<Questions[Q]["value"]> {
    const worker = this.#worker;
    if (!worker) return Promise.reject(new Error("Python is not running"));
    const id = this.#next++;
    if (question === "run" || question === "describe") this.#newest = id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        resolve: (value) => resolve(value as Questions[Q]["value"]),
        reject,
      });
      worker.postMessage({ id, question, details });
    });
  }

  dispose(): void {
    clearTimeout(this.#stopping);
    this.#stopping = 0;
    this.#worker?.terminate();
    this.#worker = null;
    this.started = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Error("Python was restarted"));
  }

  #receive(message: FromWorker): void {
    if ("note" in message) {
      if (message.note === "fatal") this.#lose(message.message);
      else this.events.note(message);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error !== undefined) waiting?.reject(new Error(message.error));
    else waiting?.resolve(message.value);
  }

  /** Python broke: say so and start it again, unless it never worked. */
  #lose(message: string): void {
    const hadStarted = this.started !== null;
    this.#shownError = true;
    this.dispose();
    if (hadStarted) {
      this.events.trouble(`Python stopped working (${message}) and was restarted.`);
      void this.start();
    } else {
      this.#setState("error");
      this.events.trouble(`Python could not start: ${message}`);
    }
  }

  #finish(failed: boolean): void {
    clearTimeout(this.#stopping);
    this.#stopping = 0;
    this.#shownError = failed;
    this.#setState(failed ? "error" : "ready");
  }

  #setState(state: State): void {
    this.state = state;
    this.events.state(state);
  }
}

/** An error from Python is a whole traceback; its last line says what went wrong. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split("\n").at(-1) ?? message;
}
