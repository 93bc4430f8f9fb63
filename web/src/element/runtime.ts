/**
 * Runs the programs of another page's elements: the script of `runtime/`, a document that
 * is shown nowhere. It is of the site's own origin, so that its policy confines programs
 * whatever the policy of the page around it.
 */

import { PROTOCOL, type FromRuntime, type Hello, type RunEvent, type RunMessage, type ToRuntime } from "./messages";
import { bounded, boundedNote } from "../page/bounds";
import type { Note, Started } from "../page/messages";
import type { DeviceName, TensorRecord } from "../page/protocol";
import { Session } from "../page/session";
import { isPicture, wholeOf } from "../panels/tensors/whole";

/** Pictures that are sent with a run: of displays first, then of named tensors. */
const MOST_PICTURES = 24;

interface Job extends RunMessage {
  send(event: RunEvent): void;
}

class Runtime {
  readonly #queue: Job[] = [];
  #current: Job | null = null;
  #best: DeviceName = "cpu";
  #tensors: TensorRecord[] = [];
  readonly #session = new Session({
    state: () => void this.#next(),
    note: (note) => this.#note(note),
    started: (started) => this.#started(started),
    queued: () => undefined,
    begin: () => this.#send({ kind: "running" }),
    finished: ({ seconds, stopped, error }) =>
      this.#send({ kind: "finished", record: bounded({ seconds, stopped, error }) }),
    tensors: (tensors) => (this.#tensors = bounded(tensors)),
    filesFor: ({ files }) => ({ files: [], tabs: files.map(({ name }) => name), keep: false }),
    collected: () => undefined,
    network: () => undefined,
    trouble: (message) => this.#trouble(bounded(message)),
  });

  start(): void {
    void this.#session.start();
  }

  restart(): void {
    void this.#session.restart();
  }

  leave(): void {
    this.#session.dispose();
  }

  /** Take a program; programs run in the order of their arrival. */
  add(job: Job): void {
    this.#queue.push(job);
    if (this.#session.state === "error" && !this.#session.started) this.start();
    void this.#next();
  }

  /** Stop a run, or take it out of the queue. */
  stop(isMeant: (job: Job) => boolean): void {
    if (this.#current && isMeant(this.#current)) return this.#session.stop();
    const index = this.#queue.findIndex(isMeant);
    const [job] = index < 0 ? [] : this.#queue.splice(index, 1);
    job?.send({ kind: "finished", record: { seconds: 0, stopped: true, error: null } });
    job?.send({ kind: "done" });
  }

  type(line: string): void {
    if (this.#current) this.#session.type(line);
  }

  async #next(): Promise<void> {
    const session = this.#session;
    if (this.#current || !session.isIdle) return;
    const job = this.#queue.shift();
    if (!job) return;
    this.#current = job;
    this.#tensors = [];
    session.device = job.device !== null && session.started?.adapter ? job.device : this.#best;
    await session.run({ source: job.source, files: job.files.map(({ name, text }) => ({ name, text })), lines: null, keep: false, timed: false, search: false, inside: false, memory: false, capture: null, dragged: null, compare: false, lost: [] });
    await this.#describe(job);
    this.#current = null;
    job.send({ kind: "done" });
    void this.#next();
  }

  /** Send the run's tensors and their pictures: the next run frees their values. */
  async #describe(job: Job): Promise<void> {
    const tensors = this.#tensors;
    if (tensors.length === 0) return;
    job.send({ kind: "tensors", tensors });
    const drawn = tensors.filter(isPicture);
    const [shown, named] = [drawn.filter(({ displays }) => displays.length > 0), drawn.filter(({ displays }) => displays.length === 0)];
    for (const tensor of [...shown, ...named].slice(0, MOST_PICTURES)) {
      try {
        const map = await this.#session.request("heatmap", wholeOf(tensor));
        job.send({ kind: "picture", tensor: tensor.id, map });
      } catch {
        return; // Python was restarted; the facts are shown already.
      }
    }
  }

  #send(event: RunEvent): void {
    this.#current?.send(event);
  }

  #note(note: Note): void {
    if (note.note === "bytes" || note.note === "step") {
      const { text, done, total } = note.note === "bytes" ? { text: note.what, ...note } : { text: note.text, done: 0, total: 0 };
      for (const job of this.#queue) job.send({ kind: "loading", text: bounded(text), done, total });
      return;
    }
    this.#send({ kind: "note", note: boundedNote(note) });
  }

  #trouble(message: string): void {
    if (this.#current) return this.#send({ kind: "trouble", message });
    // Python did not start: every program that waits for it has failed.
    for (const job of this.#queue.splice(0)) {
      job.send({ kind: "trouble", message });
      job.send({ kind: "done" });
    }
  }

  #started({ adapter, blocking, emulated }: Started): void {
    this.#best = adapter && blocking && !emulated ? "webgpu" : "cpu";
  }
}

/** Serve the page around this document, which sends a port; it is of any origin. */
function serve(): void {
  const runtime = new Runtime();
  addEventListener("message", ({ data, origin, source, ports: [port] }: MessageEvent<Partial<Hello> | null>) => {
    if (source !== window.parent || !port || typeof data?.tensorweb !== "number") return;
    const isOwn = origin === location.origin;
    const send = (message: FromRuntime): void => port.postMessage(message);
    port.addEventListener("message", ({ data }: MessageEvent<ToRuntime>) => {
      if ("stop" in data) return runtime.stop((job) => job.run === data.stop);
      if ("typed" in data) return runtime.type(String(data.typed));
      const sendEvent = (event: RunEvent): void => send({ run: data.run, event });
      if (!data.isAutomatic || isOwn) return runtime.add({ ...data, source: String(data.source), send: sendEvent });
      sendEvent({ kind: "trouble", message: "Pages of other sites run nothing by themselves; press Run." });
      sendEvent({ kind: "done" });
    });
    port.start();
    send({ ready: PROTOCOL });
  }, { once: true });
  runtime.start();
  addEventListener("pagehide", () => runtime.leave());
  addEventListener("pageshow", (event) => {
    if (event.persisted) runtime.restart();
  });
}

// Opened by itself, the document has nobody to serve.
if (window.parent !== window) serve();
