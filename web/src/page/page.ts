/** The page's state and commands, shared by its parts; knows no element of theirs. */

import { bounded } from "./bounds";
import type { KeptDocument, OpenDocument } from "./documents";
import type { Editor, EditorEvents } from "./editor";
import { whatIsMissing } from "./missing";
import { NO_ORIGINS, type Origin, type Origins } from "./origin";
import { isShown, type Panel } from "./panel";
import { MAIN } from "./program";
import { answersOf, type Recording } from "./recording";
import type { Collected, Details, LendDetails, Note, RequestName, Started, Value } from "./messages";
import type { DeviceName, Fingerprint, ProgramFile, RunRecord, TensorRecord } from "./protocol";
import type { ViewSettings } from "./look";
import { Session, type State } from "./session";
import { showing } from "./showing";
import { recall, remember } from "./storage";
import { media, watchMedia, type Media, type Theme } from "./media";
import { Library } from "./library";
import { OwnFiles, type OwnFile } from "./own-files";
import { NOTHING, Workspace } from "./workspace";

export interface Example {
  file: string;
  group: string;
  title: string;
  description: string;
  /** What the reader is asked before a run. */
  question: string;
  source: string;
}

/** The state that parts draw; replaced as one object, never mutated. */
export interface View extends Media {
  theme: Theme;
  state: State;
  queued: boolean;
  started: Started | null;
  device: DeviceName;
  /** Whether the program may reach other sites. */
  network: boolean;
  loading: { text: string; done: number; total: number };
  /** Null when they could not be loaded. */
  examples: Example[] | null;
  document: OpenDocument;
  /** The names of its files, and the one that is seen in the editor. */
  files: readonly string[];
  file: string;
  edited: boolean;
  /** Whether there are edits that are not stored yet. */
  typing: boolean;
  /** Whether the browser refuses to store edits. */
  unstored: boolean;
  /** Programs that only this browser has. */
  kept: KeptDocument[];
  /** The title of the open program while another tab holds another version of it. */
  conflict: string | null;
  /** Whether Run rests because the program has just changed by itself. */
  held: boolean;
  tensors: TensorRecord[];
  run: RunRecord | null;
  /** What the last run still does: its program, then the reading of its tensors. */
  phase: "idle" | "program" | "reading";
  /** To which run each part of the results belongs. */
  origins: Origins;
  /** Whether the program of the last run has been edited since. */
  editedSince: boolean;
  /** How often Python has started. */
  python: number;
  /** The panel that was chosen last; a narrow page shows no other. */
  panel: string;
  /** The tensor that the reader chose, or that a link names; empty for none. */
  tensor: string;
  /** The view settings of that tensor, possibly before it exists; null for the defaults. */
  look: ViewSettings | null;
  /** The panel in front of the others in the pane of results. */
  result: string;
  /** By what the open link's sender lets results be compared; null for nothing. */
  sent: Fingerprint[] | null;
  notice: Notice | null;
  /** The files of the open program, and bytes that this site uses and may use. */
  ownFiles: readonly OwnFile[];
  room: { usage: number; quota: number };
}

/** What else a run does: wait for the time of each kernel, look for what made a NaN. */
export interface How {
  timed?: boolean;
  search?: boolean;
}

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
  /** Draw the view. A panel that is not shown hears of it when it is. */
  update(view: View): void;
  /** The panel has just been brought to the front, and updated. */
  shown?(): void;
  /** Show a description of the run that the panel's results belong to; null for the current run. */
  originNote?(view: View): string | null;
  note?(note: Note): void;
  /** The cursor of the editor stands here; both count from one. */
  place?(line: number, column: number): void;
  begin?(): void;
  finished?(record: RunRecord): void;
  trouble?(message: string, retry: boolean): void;
  /** The reader wants to look into what a display showed. */
  inspect?(display: number): void;
  /** The reader wants to give the program one more file. */
  nameFile?(): void;
}

interface Mounted {
  part: Part;
  /** Null for a part that is no panel and always shown. */
  panel: Panel | null;
  wasShown: boolean;
}

/** How long Run rests after the address has changed the program. */
const HOLD_MS = 500;
const MOST_OUTPUT = 120_000;

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
    files: [MAIN],
    file: MAIN,
    edited: false,
    typing: false,
    unstored: false,
    kept: [],
    conflict: null,
    held: false,
    tensors: [],
    run: null,
    phase: "idle",
    origins: NO_ORIGINS,
    editedSince: false,
    python: 0,
    panel: "",
    tensor: "",
    look: null,
    result: "",
    sent: null,
    theme: themeNamed(new URLSearchParams(location.search).get("theme") ?? recall("theme")),
    ...media(),
    notice: null,
    ownFiles: [],
    room: { usage: 0, quota: 0 },
  };
  /** Whether this is the compact page, which knows nothing of the reader. */
  readonly isEmbedded = showing() === "embedded";
  readonly editor: Editor;
  readonly session: Session;
  readonly workspace: Workspace;
  readonly library: Library;
  readonly files: OwnFiles;
  #mounted: Mounted[] = [];
  #source = "";
  #runs = 0;
  /** Whether the run looks for what made a NaN. */
  #isSearching = false;
  #holding = 0;
  #recorded: ReturnType<typeof answersOf> | null = null;

  constructor(
    readonly panels: readonly Panel[],
    openEditor: (events: EditorEvents) => Editor,
  ) {
    const result = panels.find(({ pane }) => pane === "results");
    this.view = { ...this.view, panel: panels[0]?.id ?? "", result: result?.id ?? "" };
    this.editor = openEditor({
      run: (lines) => this.run(lines),
      save: (id, text) => this.workspace.save(id, text),
      typed: () => {
        if (!this.view.typing) this.change({ typing: true });
      },
      files: (files, file) => this.change({ files, file }),
      moved: (line, column) => this.#tell((part) => part.place?.(line, column)),
      ask: (question, details) => (this.session.isIdle ? this.ask(question, details) : null),
    });
    watchMedia((now) => this.change(now));
    this.files = new OwnFiles(this);
    this.workspace = new Workspace(this);
    this.library = new Library(this, this.workspace);
    this.session = new Session({
      state: (state) => this.change(state === "running" ? { state } : { state, phase: "idle" }),
      note: (note) => this.#note(note),
      started: (started) => this.#started(started),
      queued: (queued) => this.change({ queued }),
      begin: () => this.#begin(),
      finished: (run) => this.#finished(run),
      tensors: (tensors) => this.#described(tensors),
      lending: ({ files, keep }) => this.#lending(files, keep),
      collected: (found) => this.#collected(found),
      network: (network) => this.change({ network }),
      trouble: (message, retry = false) =>
        this.#tell((part) => part.trouble?.(bounded(message), retry)),
    });
  }

  add(part: Part): void {
    this.#add({ part, panel: null, wasShown: true });
  }

  addPanel(panel: Panel, part: Part): void {
    this.#add({ part, panel, wasShown: isShown(panel, this.view) });
  }

  change(changes: Partial<View>): void {
    this.view = { ...this.view, ...changes };
    this.#mounted.forEach((mounted) => this.#update(mounted));
  }

  #add(mounted: Mounted): void {
    this.#mounted.push(mounted);
    this.#update(mounted);
  }

  #update(mounted: Mounted): void {
    const { part, panel, wasShown } = mounted;
    mounted.wasShown = panel === null || isShown(panel, this.view);
    if (!mounted.wasShown) return;
    part.update(this.view);
    if (!wasShown) part.shown?.();
  }

  #tell(event: (part: Part) => void): void {
    for (const { part } of this.#mounted) event(part);
  }

  /** Run the program, or the cell between two lines, which finds the names of the last run. */
  run(lines: number[] | null = null, how: How = {}): void {
    if (this.view.held) return;
    if (this.view.state === "running") return;
    if (!this.files.isOpen) return void this.files.settled().then(() => this.run(lines, how));
    this.editor.flush();
    this.#source = this.editor.source();
    const { origins, document, python } = this.view;
    const before = origins.output;
    const keep = lines !== null && before?.document === document.id && before.python === python;
    const [main, ...files] = this.editor.files();
    const { lost } = this.files;
    const { timed = false, search = false } = how;
    this.#isSearching = search;
    void this.session.run({ source: main?.text ?? "", files, lines, keep, timed, search, lost });
  }

  #lending(files: readonly ProgramFile[], keep: boolean): LendDetails {
    const lent = this.view.ownFiles.map(({ name, data }) => ({ name, data }));
    return { files: lent, tabs: files.map(({ name }) => name), keep };
  }

  /** Keep what the program wrote, which is the one of the last run whatever is open now. */
  #collected(found: Collected): void {
    const program = this.view.origins.output?.document;
    if (program === undefined) return;
    if (found.left) this.warn(`The program has ${found.left} more files than the page keeps.`);
    if (found.files.length || found.gone.length) void this.files.collect(program, found);
  }

  stop(): void {
    this.session.stop();
  }

  setDevice(device: DeviceName): void {
    this.session.device = device;
    remember("device", device);
    this.change({ device });
  }

  setTheme(theme: Theme): void {
    remember("theme", theme);
    this.change({ theme });
  }

  /** Bring a panel to the front. */
  show(id: string): void {
    const panel = this.panels.find((panel) => panel.id === id);
    if (!panel) throw new Error(`internal: there is no panel “${id}”`);
    this.change(panel.pane === "results" ? { panel: id, result: id } : { panel: id });
  }

  /** Show a description of the run that a panel's results belong to; null for the current run. */
  originNote(panel: Panel): string | null {
    const mounted = this.#mounted.find((mounted) => mounted.panel === panel);
    return mounted?.part.originNote?.(this.view) ?? null;
  }

  /** Look into what a display showed. */
  inspect(display: number): void {
    this.#tell((part) => part.inspect?.(display));
  }

  /** Ask Python something about the last run. */
  ask<Q extends RequestName>(question: Q, details: Details<Q>): Promise<Value<Q>> {
    const isRecorded = this.view.origins.tensors?.recorded;
    const known = isRecorded ? this.#recorded?.(question, details) : undefined;
    return known === undefined ? this.session.ask(question, details) : Promise.resolve(known);
  }

  /** Show a recorded run of the open program as its result. */
  replay(recording: Recording): void {
    const { document, device, python } = this.view;
    const { id, title } = document;
    const run = ++this.#runs;
    const origin = { run, document: id, title, source: recording.source, device, python, recorded: true as const };
    this.#recorded = answersOf(recording);
    this.change({ origins: { output: origin, run: origin, tensors: origin }, run: recording.run });
    this.#tell((part) => part.begin?.());
    for (const note of recording.notes) this.#tell((part) => part.note?.(note));
    this.#tell((part) => part.finished?.(recording.run));
    this.change({ tensors: recording.tensors });
  }

  /** Go to a position in the program of the last run, whichever program is open now. */
  goTo(origin: Origin | null, line: number, column: number, file = MAIN): void {
    if (origin) this.workspace.reopen(origin.document);
    if (!this.view.files.includes(file)) return this.warn(`${file} is not in the program any more.`);
    this.show("editor");
    this.editor.goTo(line, column, file);
  }

  /** Ask the reader for the name of one more file of the program. */
  nameFile(): void {
    this.show("editor");
    this.#tell((part) => part.nameFile?.());
  }

  /** Light a line of the program of a run, while that is open; null for none. */
  light(origin: Origin | null, line: number | null): void {
    this.editor.light(origin?.document === this.view.document.id ? line : null);
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

  /** Take the notice away. */
  dismiss(): void {
    this.change({ notice: null });
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
    // A picture has the length that was checked when it came.
    const short = note.note === "picture" || note.note === "plot" ? note : bounded(note, most);
    // Pictures are never cut; Python and the limit of a run bound their size.
    if (note.note === "display" && note.rich) Object.assign(short, { rich: note.rich });
    this.#tell((part) => part.note?.(short));
  }

  #started(started: Started): void {
    const wanted = recall("device");
    // Where Python cannot wait, most programs can read values from the CPU only.
    const best = started.adapter && started.blocking && !started.emulated ? "webgpu" : "cpu";
    const device = started.adapter && isDevice(wanted) ? wanted : best;
    this.session.device = device;
    const missing = this.view.python === 0 ? whatIsMissing(started, device) : null;
    this.change({ started, device, python: this.view.python + 1 });
    this.workspace.linked.compareVersions();
    if (missing && !this.view.notice) this.tell(missing);
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
    // After a search for a NaN the panel with the result stays in front.
    if (this.view.isNarrow && !this.#isSearching) this.show("output");
    this.editor.mark(document.id, null);
    this.#tell((part) => part.begin?.());
  }

  #finished(record: RunRecord): void {
    const run = bounded(record);
    const { origins } = this.view;
    this.change({ run, phase: "reading", origins: { ...origins, run: origins.output } });
    if (origins.output) this.editor.mark(origins.output.document, run.error);
    this.#tell((part) => part.finished?.(run));
  }

  #described(tensors: TensorRecord[]): void {
    const { origins } = this.view;
    this.change({ tensors: bounded(tensors), origins: { ...origins, tensors: origins.output } });
  }
}

function isDevice(name: string | null): name is DeviceName {
  return name === "webgpu" || name === "cpu";
}

function themeNamed(name: string | null): Theme {
  return name === "light" || name === "dark" ? name : "system";
}
