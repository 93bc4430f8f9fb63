/** The messages between a page that shows elements and the document that runs their programs. */

import type { Note } from "../page/messages";
import type { DeviceName, Heatmap, ProgramFile, RunRecord, TensorRecord } from "../page/protocol";

/** Raised with every change of these messages: element and site may be of different versions. */
export const PROTOCOL = 1;

/** The first message to the document's window; a port for all others comes with it. */
export interface Hello {
  tensorweb: number;
}

/** Run a program after all programs that were sent before. */
export interface RunMessage {
  run: number;
  source: string;
  /** Modules and data of the program, other than its `main.py`. */
  files: readonly ProgramFile[];
  /** Null for the fastest device. */
  device: DeviceName | null;
  /** Whether nobody has asked for this run: only pages of the site itself may do so. */
  isAutomatic: boolean;
}

export type ToRuntime = RunMessage | { stop: number } | { typed: string };

/** What happens to a run; `done` is its last message. */
export type RunEvent =
  | { kind: "loading"; text: string; done: number; total: number }
  | { kind: "running" }
  | { kind: "note"; note: Note }
  | { kind: "finished"; record: Pick<RunRecord, "seconds" | "stopped" | "error"> }
  | { kind: "tensors"; tensors: TensorRecord[] }
  | { kind: "picture"; tensor: number; map: Heatmap }
  | { kind: "trouble"; message: string }
  | { kind: "done" };

export type FromRuntime = { ready: number } | { run: number; event: RunEvent };
