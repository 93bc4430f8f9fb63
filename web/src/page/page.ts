/** The page's state and commands, shared by its parts; it uses no element of theirs. */

import { bounded, boundedNote } from "./bounds";
import { Documents } from "./documents";
import type { Editor, EditorEvents, Ghost, LitSpan } from "./editor";
import { focused, INSIDE } from "./focus";
import { Library } from "./library";
import { watchMedia, type Theme } from "./media";
import type { Collected, Details, ProvideDetails, Note, RequestName, Started, Value } from "./messages";
import { OwnFiles } from "./own-files";
import { MAIN } from "./program";
import type { DeviceName, LineResult, ProgramFile, RunRecord, TensorRecord } from "./protocol";
import { responsesOf, type Recording } from "./recording";
import { whyElsewhere } from "./run-origin";
import { Session } from "./session";
import { recall, remember } from "./storage";
import { isShown, Store, type Cell, type How, type Notice, type Pane, type Part, type RunOrigin } from "./view";
import { Workspace } from "./workspace";

/** A panel: its tab, its pane, and the function that mounts it. */
export interface Panel {
  /** Names its folder and its element. */
  id: string;
  /** The label of its tab. */
  label: string;
  pane: Pane;
  mount(host: HTMLElement, page: Page): Part;
}

interface Mounted {
  part: Part;
  /** Null for a part outside the panels, which is always shown. */
  panel: Panel | null;
  wasShown: boolean;
}

export class Page extends Store {
  readonly editor: Editor;
  readonly session: Session;
  readonly workspace: Workspace;
  readonly library: Library;
  readonly files: OwnFiles;
  /** Describes what a line made; the panel of the code sets it. */
  card: (ghost: Ghost) => HTMLElement = () => document.createElement("div");
  openResult: (ghost: Ghost) => void = () => undefined;
  /** Whether the reader keeps a run for comparison with later ones. */
  isKept = false;
  #mounted: Mounted[] = [];
  #source = "";
  #runs = 0;
  /** Whether the run answers a question of the panel in front. */
  #isAsked = false;
  /** The line of a number that was dragged during the present run; null for none. */
  #due: number | null = null;
  #isAgain = false;
  #recorded: ReturnType<typeof responsesOf> | null = null;

  constructor(
    readonly panels: readonly Panel[],
    openEditor: (events: EditorEvents) => Editor,
  ) {
    super();
    const result = panels.find(({ pane }) => pane === "results");
    this.view = { ...this.view, panel: panels[0]?.id ?? "", result: result?.id ?? "" };
    this.editor = openEditor({
      run: (lines) => this.run(lines),
      rerun: (line) => this.rerun(line),
      save: (id, text) => this.workspace.save(id, text),
      typed: () => {
        if (!this.view.typing) this.change({ typing: true });
      },
      files: (files, file) => this.change({ files, file }),
      moved: (line, column) => this.#call((part) => part.cursorMoved?.(line, column)),
      pointed: (line, column) => this.#call((part) => part.linePointed?.(line, column)),
      card: (ghost) => this.card(ghost),
      open: (ghost) => this.openResult(ghost),
      request: (name, details) => (this.session.isIdle ? this.request(name, details) : null),
    });
    watchMedia((now) => this.change(now));
    this.session = new Session({
      state: (state) => {
        this.change(state === "running" ? { state } : { state, phase: "idle" });
        const due = this.#due;
        if (due !== null && this.session.isIdle) queueMicrotask(() => this.rerun(due));
      },
      note: (note) => this.#note(note),
      started: (started) => this.#started(started),
      queued: (queued) => this.change({ queued }),
      begin: () => this.#begin(),
      finished: (run) => this.#finished(run),
      tensors: (tensors) => this.#described(tensors),
      filesFor: ({ files, keep }) => this.#filesFor(files, keep),
      collected: (files) => this.#collected(files),
      network: (network) => this.change({ network }),
      trouble: (message, retry = false) =>
        this.#call((part) => part.trouble?.(bounded(message), retry)),
    });
    const documents = new Documents((id) => this.workspace.changedElsewhere(id));
    this.files = new OwnFiles(this, documents);
    this.workspace = new Workspace(this, documents, this.editor, this.session, this.files, panels);
    this.library = new Library(this, this.workspace);
  }

  add(part: Part): void {
    this.#add({ part, panel: null, wasShown: true });
  }

  addPanel(panel: Panel, part: Part): void {
    this.#add({ part, panel, wasShown: isShown(panel, this.view) });
  }

  protected override draw(): void {
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

  #call(event: (part: Part) => void): void {
    for (const { part } of this.#mounted) event(part);
  }

  /**
   * Run the program, or the cell between two lines; a cell sees the variables of the last
   * run. Return whether it runs: one more run for a panel is only of the program that the
   * panel shows, so that no button of a panel runs what the reader did not.
   */
  run(lines: number[] | null = null, how: How = {}): boolean {
    if (this.view.held || this.view.state === "running") return false;
    const { timed = false, search = false, capture = null, dragged = null } = how;
    const isMore = timed || search || how.inside === true || how.memory === true || capture !== null;
    const elsewhere = isMore ? whyElsewhere(this.view) : null;
    if (elsewhere !== null) {
      this.warn(elsewhere);
      return false;
    }
    if (!this.files.isOpen) {
      void this.files.settled().then(() => this.run(lines, how));
      return true;
    }
    this.editor.flush();
    this.#source = this.editor.source();
    const { origins, document, python } = this.view;
    const before = origins.output;
    const keep = lines !== null && before?.document === document.id && before.python === python;
    const [main, ...files] = this.editor.files();
    const { lost } = this.files;
    // What a link looks at may need the provenance of this run, and so may an answer that another panel still shows.
    const isRetained = (timed || search || capture !== null) && this.view.run?.inside === true;
    const inside = how.inside ?? (isRetained || (this.view.focus !== null && INSIDE.includes(this.view.result) && origins.run?.document !== document.id));
    const memory = how.memory ?? [this.view.result, this.view.panel].includes("memory");
    const compare = this.isKept || [this.view.result, this.view.panel].includes("compare");
    this.#isAsked = isMore || inside;
    this.#isAgain = dragged !== null;
    this.#due = null;
    void this.session.run({ source: main?.text ?? "", files, lines, keep, timed, search, inside, memory, capture, dragged, compare, lost });
    return true;
  }

  /**
   * Run what depends on a number in a line again, at most once per finished run. A program
   * of somebody else's runs only if the reader has run it before.
   */
  rerun(line: number): void {
    const { document, origins, state, queued } = this.view;
    if (document.isForeign && origins.output?.document !== document.id) return;
    this.#due = state === "running" || queued ? line : null;
    if (this.#due === null) this.run(null, { dragged: line });
  }

  #filesFor(files: readonly ProgramFile[], keep: boolean): ProvideDetails {
    const ownFiles = this.view.ownFiles.map(({ name, data }) => ({ name, data }));
    return { files: ownFiles, tabs: files.map(({ name }) => name), keep };
  }

  /** Store the files that the last run's program wrote, whichever program is open now. */
  #collected({ files, deleted, left }: Collected): void {
    const program = this.view.origins.output?.document;
    if (program === undefined) return;
    if (left) this.warn(`The program has ${left} more files than the page keeps.`);
    if (files.length || deleted.length) void this.files.collect(program, { files, deleted, left });
  }

  stop(): void {
    this.#due = null;
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

  /** Show or hide what each line made. */
  setShowsResults(showsResults: boolean): void {
    remember("line-results", showsResults ? null : "off");
    this.change({ showsResults });
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

  /** Show a display's value in the large pane. */
  inspect(display: number): void {
    this.#call((part) => part.inspect?.(display));
  }

  /** Show why a cell of a tensor has its value. */
  why(cell: Cell): void {
    this.#call((part) => part.why?.(cell));
  }

  /** Show the values that a line made, also where no name holds them any more. */
  film(result: LineResult): void {
    this.#call((part) => part.film?.(result));
  }

  /** Show a tensor in the large pane, by its id. */
  lookAt(tensor: number): void {
    this.#call((part) => part.lookAt?.(tensor));
  }

  /** Send a request about the last run to Python. */
  request<Q extends RequestName>(name: Q, details: Details<Q>): Promise<Value<Q>> {
    const isRecorded = this.view.origins.tensors?.recorded;
    const known = isRecorded ? this.#recorded?.(name, details) : undefined;
    return known === undefined ? this.session.request(name, details) : Promise.resolve(known);
  }

  /** Show a recorded run of the open program as its result. */
  replay(recording: Recording): void {
    const { document, device, python } = this.view;
    const { id, title } = document;
    const run = ++this.#runs;
    const origin = { run, document: id, title, source: recording.source, device, python, recorded: true as const, isForPanel: false };
    this.#recorded = responsesOf(recording);
    this.change({ origins: { output: origin, run: origin, tensors: origin }, run: recording.run });
    this.#call((part) => part.begin?.(false));
    for (const note of recording.notes) this.#call((part) => part.note?.(note));
    this.#call((part) => part.finished?.(recording.run));
    this.change({ tensors: recording.tensors });
  }

  /** Go to a position in the program of the last run, whichever program is open now. */
  goTo(origin: RunOrigin | null, line: number, column: number, file = MAIN): void {
    if (origin) this.workspace.reopen(origin.document);
    if (!this.view.files.includes(file)) return this.warn(`${file} is not in the program any more.`);
    this.show("editor");
    this.editor.goTo(line, column, file);
  }

  /** Ask the reader for the name of one more file of the program. */
  nameFile(): void {
    this.show("editor");
    this.#call((part) => part.nameFile?.());
  }

  /** Highlight a line of a run's program while that is open; null for none. */
  light(origin: RunOrigin | null, line: number | null, file = MAIN): void {
    this.editor.light(origin?.document === this.view.document.id ? line : null, file);
  }

  /** Highlight expressions of the last run's program in the hue of a kernel. */
  lightSpans(spans: readonly LitSpan[], hue: string): void {
    const isOpen = this.view.origins.run?.document === this.view.document.id;
    this.editor.lightSpans(isOpen ? spans : [], hue);
  }

  #note(note: Note): void {
    if (note.note === "bytes") {
      const loading = { text: note.what, done: note.done, total: note.total };
      this.change({ loading });
    } else if (note.note === "step") {
      this.change({ loading: { text: note.text, done: 0, total: 0 } });
    }
    const short = boundedNote(note);
    this.#call((part) => part.note?.(short));
  }

  #started(started: Started): void {
    const chosen = recall("device");
    // Where Python cannot wait, most programs can read values from the CPU only.
    const best = started.adapter && started.blocking && !started.emulated ? "webgpu" : "cpu";
    const device = started.adapter && isDevice(chosen) ? chosen : best;
    this.session.device = device;
    const missing = this.view.python === 0 ? unsupportedFeature(started, device) : null;
    this.change({ started, device, python: this.view.python + 1 });
    this.workspace.linkView.compareVersions();
    if (missing && !this.view.notice) this.notify(missing);
  }

  #begin(): void {
    const { notice, document, origins, python, focus } = this.view;
    const before = origins.output;
    const isChanged = before?.document === document.id && before.source !== this.#source;
    const output: RunOrigin = {
      run: ++this.#runs,
      document: document.id,
      title: document.title,
      source: this.#source,
      device: this.session.device,
      python,
      isForPanel: this.#isAsked,
    };
    const rest = notice?.kind === "info" ? null : notice;
    const now = { phase: "program" as const, editedSince: false, notice: rest };
    // Cells of another text are no step of a walk through this one.
    this.change({ ...now, origins: { ...origins, output }, focus: isChanged ? focused(focus, { why: [] }) : focus });
    if (this.view.isNarrow && !this.#isAsked && !this.#isAgain) this.show("output");
    this.editor.mark(document.id, null);
    this.#call((part) => part.begin?.(this.#isAgain));
  }

  #finished(record: RunRecord): void {
    const run = bounded(record);
    const { origins } = this.view;
    this.change({ run, phase: "reading", origins: { ...origins, run: origins.output } });
    if (origins.output) this.editor.mark(origins.output.document, run.error);
    this.#call((part) => part.finished?.(run));
  }

  #described(tensors: TensorRecord[]): void {
    const { origins } = this.view;
    this.change({ tensors: bounded(tensors), origins: { ...origins, tensors: origins.output } });
  }
}

function isDevice(name: string | null): name is DeviceName {
  return name === "webgpu" || name === "cpu";
}

/** Describe a feature that this browser lacks, and its replacement; null for none. */
export function unsupportedFeature(started: Started, device: DeviceName): Notice | null {
  if (!started.adapter) {
    return {
      kind: "info",
      text: `${started.reason} The CPU computes instead: everything works, large work takes longer.`,
    };
  }
  if (!started.blocking) {
    return {
      kind: "info",
      text: "This browser cannot wait for the GPU inside Python, so the CPU computes. With WebGPU, write “await x.tolist_async()” to see values.",
    };
  }
  if (started.emulated && device === "cpu") {
    return {
      kind: "info",
      text: `WebGPU is ${started.adapter} here, which computes on the CPU: device CPU is faster and chosen; WebGPU is in the list next to it.`,
    };
  }
  return null;
}
