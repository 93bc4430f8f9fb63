/** The page's side of the worker: requests with responses, one run at a time, restart. */

import { Batch } from "./batch";
import { handLine, newStopBuffer, requestStop } from "../worker/interrupt";
import { NoteLimit, readResponse, readMessage, readNote } from "./messages";
import type { Collected, Details, ProvideDetails, Note, Program, RequestName, Started, ToWorker, Value } from "./messages";
import type { DeviceName, RunRecord, TensorRecord } from "./protocol";
import { closeNetwork, DIGEST, startWorker } from "./worker-origin";
import { recall, remember } from "./storage";

export type State = "loading" | "ready" | "running" | "error";

export interface SessionEvents {
  state(state: State): void;
  note(note: Note): void;
  started(started: Started): void;
  queued(isQueued: boolean): void;
  begin(): void;
  finished(record: RunRecord): void;
  tensors(tensors: TensorRecord[]): void;
  /** Return the files of the program's folder. */
  filesFor(program: Program): ProvideDetails;
  /** Receive the files that the program wrote. */
  collected(files: Collected): void;
  /** Whether programs may reach other sites. */
  network(isOpen: boolean): void;
  /** Something outside the program failed; `retry` if a restart may help. */
  trouble(message: string, retry?: boolean): void;
}

interface Waiting {
  name: RequestName;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const STOP_MS_ISOLATED = 3000;
const STOP_MS_ALONE = 1200;

/** Programs of the reader's own share one Python; no other program does. */
const OWN = "";
const MOST_UNEXPECTED = 1000;
const FLOOD = "The program sent more messages than a page can take.";

/** A worker, its permissions, and the state of its programs. */
interface Connection {
  worker: Worker;
  port: MessagePort;
  network: boolean;
  /** The origin of the programs that it ran; null before the first. */
  isolation: string | null;
  unexpected: number;
}

export class Session {
  started: Started | null = null;
  state: State = "loading";
  device: DeviceName = "webgpu";
  #connection: Connection | null = null;
  #generation = 0;
  #interrupt: SharedArrayBuffer | null = null;
  #waiting = new Map<number, Waiting>();
  #next = 1;
  #newest = 0;
  #queued: Program | null = null;
  #stopping = 0;
  #shownError = false;
  #limit = new NoteLimit();
  readonly #notes: Batch;
  #document: string | null = null;
  #isolation = OWN;
  #network = false;
  /** Whether another document was opened while this one's program ran. */
  #hasLeft = false;

  constructor(readonly events: SessionEvents) {
    this.#notes = new Batch((note) => events.note(note));
  }

  /** Whether Python is idle. */
  get isIdle(): boolean {
    return this.started !== null && this.state !== "running" && this.state !== "loading";
  }

  /** Start a worker with Python; a queued run begins when it is ready. */
  async start(): Promise<void> {
    const generation = ++this.#generation;
    this.#setState("loading");
    try {
      const { worker, port, failure } = await startWorker(this.#network);
      if (generation !== this.#generation) return worker.terminate();
      if (failure !== null) throw new Error(failure);
      this.#listen({ worker, port, network: this.#network, isolation: null, unexpected: 0 });
      this.#interrupt = globalThis.crossOriginIsolated ? newStopBuffer() : null;
      const started = await this.request("start", { interrupt: this.#interrupt });
      if (generation !== this.#generation) return;
      this.started = started;
    } catch (error) {
      if (generation === this.#generation) this.#fail(messageOf(error));
      return;
    }
    // From here on programs may run, so later messages of this kind are ignored.
    if (this.started.digest !== recall(DIGEST)) remember(DIGEST, this.started.digest);
    if (!this.started.adapter) this.device = "cpu";
    this.events.started(this.started);
    this.#setState(this.#shownError ? "error" : "ready");
    if (this.#queued !== null) await this.run(this.#queued);
  }

  #listen(connection: Connection): void {
    this.#connection = connection;
    const { worker, port } = connection;
    port.addEventListener("message", (event: MessageEvent<unknown>) => {
      if (this.#connection === connection) this.#receive(event.data);
    });
    port.start();
    // The library sends nothing here; a program that floods this channel is ended.
    worker.addEventListener("message", () => {
      connection.unexpected += 1;
      if (connection.unexpected === MOST_UNEXPECTED && this.#connection === connection) this.#lose(FLOOD);
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      if (this.#connection === connection) this.#lose(event.message || "The worker did not load.");
    });
  }

  /**
   * Keep programs of different origin apart: one that came by a link shares its worker
   * with no other document, and network access ends with the document it was given to.
   */
  isolate(document: string, fromLink: boolean): void {
    if (document === this.#document) return;
    this.#document = document;
    this.#isolation = fromLink ? document : OWN;
    this.#network = false;
    this.events.network(false);
    this.#renew();
    this.#leave();
  }

  /** End timers and workers that the previous document's program left running. */
  #leave(): void {
    this.#hasLeft = this.state === "running";
    if (this.#hasLeft || !this.started || this.#connection?.isolation === null) return;
    // No response means that Python was restarted: then nothing is left to end.
    this.request("leave", {}).catch(() => undefined);
  }

  /** Change the id of the document. */
  rename(document: string): void {
    this.#document = document;
  }

  /** Allow or forbid network access to the programs of this document. */
  allowNetwork(isOpen: boolean): void {
    if (isOpen === this.#network || this.state === "running") return;
    this.#network = isOpen;
    this.events.network(isOpen);
    if (this.state === "loading") void this.restart();
    else this.#renew();
  }

  /** Start another worker in advance, so that the next run need not wait for it. */
  #renew(): void {
    if (this.state === "running" || !this.started || !this.#isForeign()) return;
    void this.restart();
  }

  /** Whether this worker must not run the document's program. */
  #isForeign(): boolean {
    if (!this.#connection) return true;
    const { isolation, network } = this.#connection;
    return network !== this.#network || (isolation !== null && isolation !== this.#isolation);
  }

  /** Run a program now, or as soon as Python is ready. */
  async run(program: Program): Promise<void> {
    if (this.state === "running") return;
    if (this.state === "loading" || !this.started) {
      this.#queued = program;
      this.events.queued(true);
      if (this.state === "error") void this.restart();
      return;
    }
    if (this.#isForeign()) {
      this.#queued = program;
      this.events.queued(true);
      return this.restart();
    }
    this.#queued = null;
    this.events.queued(false);
    const connection = this.#connection;
    if (connection) connection.isolation = this.#isolation;
    this.#limit = new NoteLimit();
    this.#setState("running");
    this.#notes.flush();
    this.events.begin();
    try {
      void this.request("provide", this.events.filesFor(program)).catch(() => undefined);
      const record = await this.request("run", { ...program, device: this.device });
      if (this.#connection !== connection) return;
      // The program has ended: Stop during the following reads needs no restart.
      this.#endPatience();
      this.events.finished(record);
      this.events.collected(await this.request("collect", {}));
      this.events.tensors(await this.request("describe", {}));
      this.#finish(record.error !== null);
    } catch (error) {
      if (this.#connection !== connection) return;
      this.events.trouble(messageOf(error));
      this.#finish(true);
    }
  }

  /** Send a line to the program that waits in `input()`. */
  type(line: string): void {
    // Where Python cannot be suspended, its thread sleeps and receives no messages.
    if (this.#interrupt && this.started?.blocking === false) handLine(this.#interrupt, line);
    else this.#post({ typed: line });
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
    this.#post({ cancel: this.#newest });
    const patience = this.#interrupt ? STOP_MS_ISOLATED : STOP_MS_ALONE;
    this.#stopping = window.setTimeout(() => this.#force(), patience);
  }

  /** Start a new Python, after a timeout or a second Stop. */
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

  /** Restart Python; the page keeps everything that it shows. */
  async restart(): Promise<void> {
    this.dispose();
    await this.start();
  }

  /** Send a request to the worker; responses arrive in the order of requests. */
  request<Q extends RequestName>(
    name: Q,
    details: Details<Q>,
  ): Promise<Value<Q>> {
    const isReady = this.#connection && (this.started || name === "start");
    if (!isReady) return Promise.reject(new Error("Python is starting"));
    const id = this.#next++;
    if (name === "run" || name === "describe") this.#newest = id;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, {
        name,
        resolve: (value) => resolve(value as Value<Q>),
        reject,
      });
      this.#post({ id, name, details } as ToWorker);
    });
  }

  #post(message: ToWorker): void {
    this.#connection?.port.postMessage(message);
  }

  dispose(): void {
    clearTimeout(this.#stopping);
    this.#stopping = 0;
    this.#generation += 1;
    this.#connection?.worker.terminate();
    this.#connection?.port.close();
    this.#connection = null;
    if (!this.#network) closeNetwork();
    this.started = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new Error("Python was restarted"));
  }

  /** Handle a message of the worker; unknown messages are dropped. */
  #receive(data: unknown): void {
    const message = readMessage(data);
    if (!message) return;
    if ("fatal" in message) return this.#lose(message.fatal);
    if ("said" in message) return this.#receiveNote(readNote(message));
    if ("note" in message) {
      if (!this.started) this.events.note(message);
      return;
    }
    const waiting = this.#waiting.get(message.id);
    if (!waiting) return;
    this.#notes.flush();
    this.#waiting.delete(message.id);
    if ("error" in message) return waiting.reject(new Error(message.error));
    try {
      waiting.resolve(readResponse(waiting.name, message));
    } catch (error) {
      waiting.reject(error as Error);
    }
  }

  #receiveNote(note: Note | null): void {
    if (!note) return;
    if (this.#limit.takes(note)) this.#notes.add(note);
    else this.#lose(FLOOD);
  }

  /** Report that Python broke and restart it, unless it never worked. */
  #lose(reason: string): void {
    const hadStarted = this.started !== null;
    this.#shownError = true;
    this.#notes.flush();
    this.dispose();
    if (!hadStarted) return this.#fail(reason);
    this.events.trouble(`${reason} Python was restarted; your code is as it was.`);
    void this.start();
  }

  #fail(reason: string): void {
    if (this.#network) {
      this.#network = false;
      this.events.network(false);
    }
    this.dispose();
    this.#setState("error");
    this.events.trouble(`Python could not start: ${reason}`, true);
  }

  #endPatience(): void {
    clearTimeout(this.#stopping);
    this.#stopping = 0;
  }

  #finish(failed: boolean): void {
    this.#endPatience();
    this.#shownError = failed;
    this.#setState(failed ? "error" : "ready");
    if (this.#hasLeft) this.#leave();
  }

  #setState(state: State): void {
    this.state = state;
    this.events.state(state);
  }
}

/** An error from Python is a traceback; its last line is the message. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split("\n").at(-1) ?? message;
}
