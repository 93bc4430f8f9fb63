/** The page's state and commands, shared by its parts; knows no element of theirs. */

import { bounded } from "./bounds";
import type { KeptDocument, OpenDocument } from "./documents";
import { NO_ORIGINS, type Origin, type Origins } from "./origin";
import type { DeviceName, Failure, Note, RunRecord, Started, TensorRecord } from "./protocol";
import { Session, type State } from "./session";
import { recall, remember } from "./storage";
import { NOTHING, Workspace } from "./workspace";

export interface Example {
  file: string;
  title: string;
  description: string;
  source: string;
}

/** Everything that parts draw from; replaced as a whole, never changed in place. */
export interface View {
  state: State;
  queued: boolean;
  started: Started | null;
  device: DeviceName;
  /** Whether the program may reach other sites. */
  network: boolean;
  loading: { text: string; done: number; total: number };
  examples: Example[];
  document: OpenDocument;
  edited: boolean;
  /** Programs that only this browser has. */
  kept: KeptDocument[];
  /** The title of the open program while another tab holds another version of it. */
  conflict: string | null;
  /** Whether Run rests because the program has just changed by itself. */
  held: boolean;
  tensors: TensorRecord[];
  run: RunRecord | null;
  /** What the last run still does: its program, then the reading of its tensors. */
  phase: "idle" | "program" | "tensors";
  /** To which run each part of the results belongs. */
  origins: Origins;
  /** Whether the program of the last run has been edited since. */
  editedSince: boolean;
  /** How often Python has started. */
  python: number;
  /** The part that a narrow page shows. */
  tab: Tab;
  /** The part that stands in the result pane. */
  results: "tensors" | "kernels";
  notice: Notice | null;
}

export type Tab = "code" | "output" | "tensors" | "kernels";

export interface Notice {
  kind: "info" | "warning";
  text: string;
  actions?: Action[];
}

/** A button of a notice. */
export interface Action {
  label: string;
  run(): void;
}

/** A visible piece of the page. */
export interface Part {
  dom: HTMLElement;
  update(view: View): void;
  note?(note: Note): void;
  begin?(): void;
  finished?(record: RunRecord): void;
  trouble?(message: string, retry: boolean): void;
  dispose(): void;
}

/** What the editor offers to the rest of the page. */
export interface EditorCommands {
  source(): string;
  /** How often the reader has changed any program; tells whether they type. */
  edits(): number;
  /** Hand on at once what was typed and not yet saved. */
  flush(): void;
  /** Show another program, with its own history of changes. */
  show(id: string, source: string, wraps: boolean): void;
  /** Say that the program shown is now known by another name. */
  rename(id: string): void;
  /** Replace the whole text of the program shown; undo brings the old one back. */
  open(source: string): void;
  /** Mark where a program failed, and nothing any more in all others. */
  mark(id: string, failure: Failure | null): void;
  goTo(line: number, column: number): void;
  focus(): void;
}

/** How long Run rests after the address has changed the program. */
const HOLD_MS = 500;
const MOST_OUTPUT = 120_000;
const MOST_SOURCE = 500_000;

export class Page {
  view: View = {
    state: "loading",
    queued: false,
    started: null,
    device: "webgpu",
    network: false,
    loading: { text: "Loading Python", done: 0, total: 0 },
    examples: [],
    document: NOTHING,
    edited: false,
    kept: [],
    conflict: null,
    held: false,
    tensors: [],
    run: null,
    phase: "idle",
    origins: NO_ORIGINS,
    editedSince: false,
    python: 0,
    tab: "code",
    results: "tensors",
    notice: null,
  };
  editor: EditorCommands | null = null;
  /** Look into the tensor that a display showed; set by the tensor list. */
  choose: (display: number) => void = () => undefined;
  readonly session: Session;
  #parts: Part[] = [];
  readonly workspace: Workspace;
  #source = "";
  #runs = 0;
  #holding = 0;

  constructor() {
    this.workspace = new Workspace(this);
    this.session = new Session({
      state: (state) => this.change(state === "running" ? { state } : { state, phase: "idle" }),
      note: (note) => this.#note(note),
      started: (started) => this.#started(started),
      queued: (queued) => this.change({ queued }),
      begin: () => this.#begin(),
      finished: (run) => this.#finished(run),
      tensors: (tensors) => this.#described(tensors),
      network: (network) => this.change({ network }),
      trouble: (message, retry = false) =>
        this.#parts.forEach((part) => part.trouble?.(bounded(message), retry)),
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
    if (this.view.held) return;
    if (this.view.state === "running") return;
    this.#source = this.editor?.source() ?? "";
    void this.session.run(this.#source);
  }

  stop(): void {
    this.session.stop();
  }

  setDevice(device: DeviceName): void {
    this.session.device = device;
    remember("device", device);
    this.change({ device });
  }

  /** Show a part of the page, also where there is room for one only. */
  showTab(tab: Tab): void {
    this.change(tab === "tensors" || tab === "kernels" ? { tab, results: tab } : { tab });
  }

  /** Go to a place in the program of the last run, whichever is open now. */
  goTo(origin: Origin | null, line: number, column: number): void {
    if (origin) this.workspace.reopen(origin.document);
    this.showTab("code");
    this.editor?.goTo(line, column);
  }

  /** Refuse Run for a moment: a click meant another program than the one shown now. */
  hold(): void {
    clearTimeout(this.#holding);
    this.change({ held: true });
    this.#holding = window.setTimeout(() => this.change({ held: false }), HOLD_MS);
  }

  tell(notice: Notice): void {
    this.change({ notice });
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
    const most = note.note === "output" || note.note === "tail" ? MOST_OUTPUT : undefined;
    const short = bounded(note, most);
    this.#parts.forEach((part) => part.note?.(short));
  }

  #started(started: Started): void {
    const wanted = recall("device");
    const device = started.adapter && !(wanted === "cpu" && started.numpy) ? "webgpu" : "cpu";
    this.session.device = device;
    this.change({ started, device, python: this.view.python + 1 });
  }

  #begin(): void {
    const { notice, document, origins, python } = this.view;
    const output: Origin = {
      run: ++this.#runs,
      document: document.id,
      title: document.title,
      source: this.#source,
      device: this.session.device,
      python,
    };
    const rest = notice?.kind === "info" ? null : notice;
    const now = { phase: "program" as const, editedSince: false, notice: rest };
    this.change({ ...now, origins: { ...origins, output } });
    this.editor?.mark(document.id, null);
    this.#parts.forEach((part) => part.begin?.());
  }

  #finished(record: RunRecord): void {
    const run = { ...bounded({ ...record, kernels: [] }), kernels: bounded(record.kernels, MOST_SOURCE) };
    const { origins } = this.view;
    this.change({ run, phase: "tensors", origins: { ...origins, kernels: origins.output } });
    if (origins.output) this.editor?.mark(origins.output.document, run.error);
    this.#parts.forEach((part) => part.finished?.(run));
  }

  #described(tensors: TensorRecord[]): void {
    const { origins } = this.view;
    this.change({ tensors: bounded(tensors), origins: { ...origins, tensors: origins.output } });
  }
}
