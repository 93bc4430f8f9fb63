/** The page's state, shared by its parts, and the notices that anything can show. */

import { ownDocument, type StoredDocument, type OpenDocument } from "./documents";
import type { Focus } from "./focus";
import { media, themeNamed, type Media, type Theme } from "./media";
import type { ProvidedFile, Note, Started } from "./messages";
import { MAIN } from "./program";
import type { DeviceName, Fingerprint, LineResult, RunRecord, TensorRecord } from "./protocol";
import type { State } from "./session";
import { recall } from "./storage";
import type { ViewSettings } from "./view-settings";

export interface Example {
  file: string;
  group: string;
  title: string;
  description: string;
  /** The question to the reader before a run. */
  question: string;
  /** What it offers to look at after a run, see `panels/output/looks.ts`. */
  looks: readonly string[];
  source: string;
}

/** One run: its id, its program, its device, and the id of its Python start. */
export interface RunOrigin {
  run: number;
  document: string;
  title: string;
  source: string;
  device: DeviceName;
  python: number;
  /** Whether it was recorded when the site was built. */
  recorded?: true;
  /** Whether it was one more run of the program, for a panel that looks inside of it. */
  isForPanel: boolean;
}

/** The runs that produced the output, `View.run` and `View.tensors`. */
export interface RunOrigins {
  output: RunOrigin | null;
  run: RunOrigin | null;
  tensors: RunOrigin | null;
}

export const NO_ORIGINS: RunOrigins = { output: null, run: null, tensors: null };

/** A file of the open program, as the panel shows it. */
export interface OwnFile extends ProvidedFile {
  /** Whether the browser stores it beyond this page. */
  isKept: boolean;
}

/** The state of Python and its worker. */
interface SessionView {
  state: State;
  queued: boolean;
  started: Started | null;
  device: DeviceName;
  /** Whether the program may reach other sites. */
  network: boolean;
  loading: { text: string; done: number; total: number };
  /** The count of Python starts. */
  python: number;
}

/** The open program, and the others. */
interface DocumentView {
  /** Null if they could not be loaded. */
  examples: Example[] | null;
  document: OpenDocument;
  /** The names of its files, and the one that is shown in the editor. */
  files: readonly string[];
  file: string;
  edited: boolean;
  /** Whether there are edits that are not stored yet. */
  typing: boolean;
  /** Whether the browser refuses to store edits. */
  unstored: boolean;
  /** The reader's stored programs. */
  programs: StoredDocument[];
  /** The title of the open program while another tab holds another version of it. */
  conflict: string | null;
  /** Whether Run is blocked because the program has just changed by itself. */
  held: boolean;
  /** Its files, and bytes that this site uses and may use. */
  ownFiles: readonly OwnFile[];
  room: { usage: number; quota: number };
}

/** The results of the last run. */
interface RunView {
  tensors: TensorRecord[];
  run: RunRecord | null;
  /** The phase of the last run: its program, then the reading of its tensors. */
  phase: "idle" | "program" | "reading";
  /** The run of each part of the results. */
  origins: RunOrigins;
  /** Whether the program of the last run has been edited since. */
  editedSince: boolean;
  /** The fingerprints of the open link's sender; null for none. */
  sent: Fingerprint[] | null;
}

/** Display settings. */
interface DisplayView extends Media {
  theme: Theme;
  /** The panel that was chosen last; a narrow page shows no other. */
  panel: string;
  /** The panel in front of the others in the pane of results. */
  result: string;
  /** The tensor that the reader chose, or that a link names; empty for none. */
  tensor: string;
  /** The view settings of that tensor, possibly before it exists; null for the defaults. */
  viewSettings: ViewSettings | null;
  /** What other panels look at, possibly before the run that it is of; null for nothing. */
  focus: Focus | null;
  notice: Notice | null;
  /** Whether the code shows what each line made. */
  showsResults: boolean;
}

/** A cell of a named tensor, or of a value of the last run by its id. */
export interface Cell {
  id?: number;
  name: string;
  index: readonly number[];
  /** Whether the cell is NaN or infinite, and what first made it so is asked for as well. */
  isOdd?: boolean;
}

/** The tensor of a name; one tensor can have several. */
export function tensorNamed(tensors: readonly TensorRecord[], name: string): TensorRecord | undefined {
  return tensors.find((one) => one.name === name || one.names.includes(name));
}

/** The state that parts draw; replaced as one object, never mutated. */
export interface View extends SessionView, DocumentView, RunView, DisplayView {}

export const NOTHING: OpenDocument = ownDocument({ id: "", title: "", original: null, isForeign: false });

/** Options of a run: measure each kernel's time, search for the origin of a NaN, retain what each value is computed from. */
export interface How {
  timed?: boolean;
  search?: boolean;
  inside?: boolean;
  /** Log the buffers of devices, as while the panel Memory is open. */
  memory?: boolean;
  /** The kernel of the last run whose first launch is captured. */
  capture?: number | null;
  /** The line of a number that was dragged: what does not depend on it need not run, and no other panel comes to the front. */
  dragged?: number | null;
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
  /** Draw the view. A panel that is not shown is drawn when it is. */
  update(view: View): void;
  /** The panel has just been brought to the front, and updated. */
  shown?(): void;
  /** Show a description of the run that the panel's results belong to; null for the current run. */
  originNote?(view: View): string | null;
  note?(note: Note): void;
  /** The cursor of the editor stands here; both count from one. */
  cursorMoved?(line: number, column: number): void;
  /** A run begins; `isAgain` after a number was dragged. */
  begin?(isAgain: boolean): void;
  finished?(record: RunRecord): void;
  trouble?(message: string, retry: boolean): void;
  /** The reader wants to look into what a display showed. */
  inspect?(display: number): void;
  /** The reader asks why a cell of a tensor has its value. */
  why?(cell: Cell): void;
  /** The reader wants to see the values that a line made. */
  film?(result: LineResult): void;
  /** The reader wants to look into a tensor, by its id. */
  lookAt?(tensor: number): void;
  /** The reader points at a line of the visible file of the program, or at none. */
  linePointed?(line: number | null, column: number): void;
  /** The reader wants to give the program one more file. */
  nameFile?(): void;
}

/** The state at the start. */
function initialView(): View {
  return {
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
      programs: [],
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
      viewSettings: null,
      focus: null,
      result: "",
      sent: null,
      theme: themeNamed(new URLSearchParams(location.search).get("theme") ?? recall("theme")),
      ...media(),
      notice: null,
      showsResults: recall("line-results") !== "off",
      ownFiles: [],
      room: { usage: 0, quota: 0 },
  };
}

/** The panels of the program are stacked, those of results are shown one at a time. */
export type Pane = "program" | "results";

/** Whether a panel is on the screen; a narrow page has room for one. */
export function isShown({ id, pane }: { id: string; pane: Pane }, view: View): boolean {
  if (view.isNarrow) return id === view.panel;
  return pane === "program" || id === view.result;
}

/** How long Run is blocked after the address has changed the program. */
const HOLD_MS = 500;

/** Holds the state; each change of it draws the view again. */
export abstract class Store {
  view = initialView();
  #holding = 0;

  /** Change some fields, and draw the parts again. */
  change(changes: Partial<View>): void {
    this.view = { ...this.view, ...changes };
    this.draw();
  }

  /** Draw the changed state. */
  protected abstract draw(): void;

  /** Block Run for a moment: a click meant another program than the one shown now. */
  hold(): void {
    clearTimeout(this.#holding);
    this.change({ held: true });
    this.#holding = window.setTimeout(() => this.change({ held: false }), HOLD_MS);
  }

  notify(notice: Notice): void {
    this.change({ notice });
  }

  /** Remove the notice. */
  dismiss(): void {
    this.change({ notice: null });
  }

  warn(text: string): void {
    this.notify({ kind: "warning", text });
  }
}
