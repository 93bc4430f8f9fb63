/** The page's state and commands, shared by its parts; knows no element of theirs. */

import { readFragment, decodeCode, encodeCode } from "./link";
import type { DeviceName, Failure, Note, RunRecord, Started, TensorRecord } from "./protocol";
import { Session, type State } from "./session";
import { recall, remember } from "./storage";

export interface Example {
  file: string;
  title: string;
  description: string;
}

/** Everything that parts draw from; replaced as a whole, never changed in place. */
export interface View {
  state: State;
  queued: boolean;
  started: Started | null;
  device: DeviceName;
  loading: { text: string; done: number; total: number };
  examples: Example[];
  document: OpenDocument;
  edited: boolean;
  tensors: TensorRecord[];
  run: RunRecord | null;
  notice: Notice | null;
}

export interface Notice {
  kind: "info" | "warning";
  text: string;
}

export interface OpenDocument {
  id: string;
  title: string;
  original: string;
  fromLink: boolean;
}

/** A visible piece of the page. */
export interface Part {
  dom: HTMLElement;
  update(view: View): void;
  note?(note: Note): void;
  begin?(): void;
  finished?(record: RunRecord): void;
  trouble?(message: string): void;
  dispose(): void;
}

/** What the editor offers to the rest of the page. */
export interface EditorCommands {
  source(): string;
  open(source: string): void;
  mark(failure: Failure | null): void;
  goTo(line: number, column: number): void;
  focus(): void;
}

const NOTHING: OpenDocument = { id: "", title: "", original: "", fromLink: false };
const TOO_LONG = 16_000;

export class Page {
  view: View = {
    state: "loading",
    queued: false,
    started: null,
    device: "webgpu",
    loading: { text: "Loading Python", done: 0, total: 0 },
    examples: [],
    document: NOTHING,
    edited: false,
    tensors: [],
    run: null,
    notice: null,
  };
  editor: EditorCommands | null = null;
  /** Look into the tensor that a display showed; set by the tensor list. */
  choose: (display: number) => void = () => undefined;
  readonly session: Session;
  #parts: Part[] = [];
  #opening = 0;

  constructor() {
    this.session = new Session({
      state: (state) => this.change({ state }),
      note: (note) => this.#note(note),
      started: (started) => this.#started(started),
      queued: (queued) => this.change({ queued }),
      begin: () => this.#begin(),
      finished: (run) => this.#finished(run),
      tensors: (tensors) => this.change({ tensors }),
      trouble: (message) => this.#parts.forEach((part) => part.trouble?.(message)),
    });
  }

  add(part: Part): void {
    this.#parts.push(part);
    part.update(this.view);
  }

  change(changes: Partial<View>): void {
    this.view = { ...this.view, ...changes };
    for (const part of this.#parts) part.update(this.view);
  }

  run(): void {
    const source = this.editor?.source() ?? "";
    void this.session.run(source);
  }

  stop(): void {
    this.session.stop();
  }

  setDevice(device: DeviceName): void {
    this.session.device = device;
    remember("device", device);
    this.change({ device });
  }

  /** Read the menu, then open what the address, or else the last visit, asks for. */
  async openFirst(): Promise<void> {
    try {
      const response = await fetch(new URL("examples.json", document.baseURI));
      if (response.ok) this.change({ examples: (await response.json()) as Example[] });
    } catch {
      this.warn("The examples could not be loaded; you can write your own program.");
    }
    await this.openAddress();
  }

  async openAddress(): Promise<void> {
    const wish = readFragment(location.hash);
    if (wish.code !== null) return this.#openLink(wish.code);
    const known = this.view.examples.map(({ file }) => idOf(file));
    const wanted = wish.example ?? recall("last") ?? known[0] ?? "";
    const id = known.includes(wanted) ? wanted : known[0];
    if (id !== undefined) await this.openExample(id);
    if (wish.example !== null && !known.includes(wish.example)) {
      this.warn(`There is no example named “${wish.example}”.`);
    }
  }

  async openExample(id: string): Promise<void> {
    const example = this.view.examples.find(({ file }) => idOf(file) === id);
    if (!example) return;
    const turn = ++this.#opening;
    try {
      const response = await fetch(new URL(`examples/${example.file}`, document.baseURI));
      if (!response.ok) throw new Error(String(response.status));
      const original = await response.text();
      if (turn !== this.#opening) return;
      remember("last", id);
      history.replaceState(null, "", `#ex=${id}`);
      this.#open({ id, title: example.title, original, fromLink: false });
    } catch {
      this.warn(`The example “${example.title}” could not be loaded.`);
    }
  }

  async #openLink(code: string): Promise<void> {
    const turn = ++this.#opening;
    try {
      const original = await decodeCode(code);
      if (turn !== this.#opening) return;
      const id = `link-${code.length}-${code.slice(0, 24)}`;
      this.#open({ id, title: "Shared program", original, fromLink: true });
      this.change({
        notice: {
          kind: "info",
          text: "This program came with a link. Read it, then press Run if you trust it.",
        },
      });
    } catch {
      this.warn("The program in this link is damaged and could not be opened.");
    }
  }

  #open(opened: OpenDocument): void {
    const kept = recall(`code:${opened.id}`);
    this.change({ document: opened, edited: kept !== null && kept !== opened.original, notice: null });
    this.editor?.open(kept ?? opened.original);
  }

  /** Keep the program as it is now; an unchanged one is not kept. */
  save(source: string): void {
    const { id, original } = this.view.document;
    const edited = source !== original;
    if (id) remember(`code:${id}`, edited ? source : null);
    if (edited !== this.view.edited) this.change({ edited });
  }

  reset(): void {
    const { original } = this.view.document;
    this.editor?.open(original);
    this.save(original);
  }

  /** Put a link to the program into the clipboard; the address shows it too. */
  async share(): Promise<void> {
    const code = await encodeCode(this.editor?.source() ?? "");
    const address = new URL(location.href);
    address.hash = `code=${code}`;
    const long = address.href.length > TOO_LONG ? " It is long; some programs cut it." : "";
    try {
      await navigator.clipboard.writeText(address.href);
      this.change({ notice: { kind: "info", text: `The link is copied.${long}` } });
    } catch {
      history.replaceState(null, "", address.hash);
      const text = `The link is in the address bar; copy it from there.${long}`;
      this.change({ notice: { kind: "info", text } });
    }
  }

  warn(text: string): void {
    this.change({ notice: { kind: "warning", text } });
  }

  #note(note: Note): void {
    if (note.note === "bytes") {
      const loading = { text: note.what, done: note.done, total: note.total };
      this.change({ loading });
    } else if (note.note === "step") {
      this.change({ loading: { text: note.text, done: 0, total: 0 } });
    }
    this.#parts.forEach((part) => part.note?.(note));
  }

  #started(started: Started): void {
    const wanted = recall("device");
    const device = started.adapter && !(wanted === "cpu" && started.numpy) ? "webgpu" : "cpu";
    this.session.device = device;
    this.change({ started, device });
  }

  #begin(): void {
    const { notice } = this.view;
    if (notice?.kind === "info") this.change({ notice: null });
    this.editor?.mark(null);
    this.#parts.forEach((part) => part.begin?.());
  }

  #finished(run: RunRecord): void {
    this.change({ run });
    this.editor?.mark(run.error);
    this.#parts.forEach((part) => part.finished?.(run));
  }
}

/** `01-tour.py` is the example `01-tour`. */
export function idOf(file: string): string {
  return file.replace(/\.py$/, "");
}
