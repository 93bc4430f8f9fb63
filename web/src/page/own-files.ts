/**
 * The files of the reader's programs. The worker reads the open program's files in ranges;
 * files that come from the reader or from a finished run are stored on disk. The
 * worker sees the files of the program that it runs and no others.
 */

import { bytes } from "../parts/format";
import * as disk from "./disk";
import type { Documents } from "./documents";
import { plainName } from "./program";
import type { Collected, ProvidedFile } from "./messages";
import { recall, remember, type Refusal } from "./storage";
import type { Store } from "./view";

/** Names of files that only this page has, by program, so that a later visit can report them as missing. */
const HELD = "files-held:";
/** Deleted programs; their files are removed when Undo is no longer possible. */
const DELETED = "files-deleted";

export class OwnFiles {
  /** By program, files that the browser did not store. */
  readonly #held = new Map<string, Map<string, Blob>>();
  /** Stored files of the open program. */
  #stored = new Map<string, File>();
  #program = "";
  #queue: Promise<void> = Promise.resolve();
  #isPersistent = false;
  /** Whether the open program's files have been listed. */
  isOpen = true;
  /** Names of files that an earlier page had and the browser did not store. */
  lost: string[] = [];

  constructor(
    readonly store: Store,
    readonly documents: Documents,
  ) {
    void this.#after(async () => {
      for (const program of namesIn(DELETED)) await disk.removeAll(program);
      remember(DELETED, null);
    });
    // Another tab may have changed them.
    addEventListener("focus", () => void this.#after(() => this.#refresh()));
  }

  /** Switch to the files of a program; the previous program's files are no longer readable. */
  open(program: string): void {
    this.#program = program;
    this.#stored = new Map();
    this.lost = [];
    this.isOpen = false;
    this.#show();
    void this.#after(() => this.#refresh());
  }

  /** Wait for all pending operations. */
  settled(): Promise<void> {
    return this.#queue;
  }

  /** Add files of the reader's; they replace files of the same names. */
  async add(files: readonly File[]): Promise<void> {
    const program = this.#program;
    if (!this.#isPersistent) {
      this.#isPersistent = true;
      // Not awaited: the browser may request permission from the reader.
      void navigator.storage?.persist?.().catch(() => undefined);
    }
    const named = files.map((file) => ({ name: plainName(file.name), data: file }));
    this.#hold(program, named);
    await this.#after(() => this.#keep(program, named));
  }

  /** Store files that a program has written, and remove those it has deleted. */
  async collect(program: string, { files, deleted }: Collected): Promise<void> {
    this.#hold(program, files);
    await this.#after(async () => {
      for (const name of deleted) await this.#forget(program, name);
      await this.#keep(program, files, !this.#isPassing(program));
    });
  }

  rename(from: string, to: string): Promise<void> {
    const program = this.#program;
    return this.#after(async () => {
      const held = this.#held.get(program);
      const data = held?.get(from);
      if (held && data) {
        held.delete(from);
        held.set(to, data);
      }
      if (this.#stored.has(from)) await disk.give(program, from, program, to);
      await this.#refresh();
    });
  }

  /** Delete a file; the returned function restores it. */
  delete(name: string): () => Promise<void> {
    const program = this.#program;
    const trash = `deleted ${program}`;
    const data = this.#held.get(program)?.get(name);
    this.leave(trash);
    void this.#after(async () => {
      this.#held.get(program)?.delete(name);
      await this.#tried(() => disk.give(program, name, trash, name));
      await this.#refresh();
    });
    return () =>
      this.#after(async () => {
        if (data) {
          this.#hold(program, [{ name, data }]);
          await this.#keep(program, [{ name, data }]);
        } else await disk.give(trash, name, program, name);
        await this.#refresh();
      });
  }

  /** Rename a program; its files follow. */
  move(from: string, to: string): void {
    if (this.#program === from) this.#program = to;
    void this.#after(async () => {
      const held = this.#held.get(from);
      if (held) this.#held.set(to, held);
      this.#held.delete(from);
      await this.#tried(() => disk.move(from, to));
      await this.#refresh();
    });
  }

  /** Copy a program's files to its copy. */
  copy(from: string, to: string): void {
    void this.#after(async () => {
      const held = this.#held.get(from);
      if (held) this.#held.set(to, new Map(held));
      await this.#tried(() => disk.copy(from, to));
      await this.#refresh();
    });
  }

  /** Delete a program's files, once its deletion cannot be undone. */
  leave(program: string): void {
    remember(DELETED, JSON.stringify([...namesIn(DELETED), program]));
  }

  comeBack(program: string): void {
    const rest = namesIn(DELETED).filter((other) => other !== program);
    remember(DELETED, rest.length ? JSON.stringify(rest) : null);
  }

  /** Why a file cannot have this name; null if it can. */
  problem(name: string): string | null {
    if (plainName(name) !== name) return "A name has no slash, does not begin with a dot, and is not too long.";
    return this.store.view.ownFiles.some((file) => file.name === name) ? `There is a file ${name} already.` : null;
  }

  /** Whether a program is an unedited link: it has no record, so a later visit has no name for its files. */
  #isPassing(program: string): boolean {
    return program.startsWith("link-") && this.documents.find(program) === null;
  }

  /** Add files in memory first, so that a run need not wait for the disk. */
  #hold(program: string, files: readonly ProvidedFile[]): void {
    const held = this.#held.get(program) ?? new Map<string, Blob>();
    this.#held.set(program, held);
    for (const { name, data } of files) held.set(name, data);
    this.#show();
  }

  /** Write files that are only in memory to disk; warn of the first refused one. */
  async #keep(program: string, files: readonly ProvidedFile[], onDisk = true): Promise<void> {
    const held = this.#held.get(program) ?? new Map<string, Blob>();
    const refusals: [string, Refusal][] = [];
    for (const [name, data] of onDisk ? [...held] : []) {
      try {
        await disk.write(program, name, data);
        // Another file of this name may have been added in the meantime.
        if (held.get(name) === data) held.delete(name);
      } catch (error) {
        refusals.push([name, disk.refusalOf(error)]);
      }
    }
    remember(HELD + program, held.size ? JSON.stringify([...held.keys()]) : null);
    await this.#refresh();
    const [first] = refusals;
    if (first && files.length) await this.#warn(...first);
  }

  async #forget(program: string, name: string): Promise<void> {
    this.#held.get(program)?.delete(name);
    await this.#tried(() => disk.remove(program, name));
  }

  /** Warn why a file was not stored. */
  async #warn(name: string, refusal: Refusal): Promise<void> {
    if (refusal === "blocked") {
      this.store.warn(`This browser keeps no files for the page, so “${name}” is there until the page is loaded anew.`);
      return;
    }
    const { usage, quota } = await estimate();
    const room = quota ? ` (${bytes(usage)} of ${bytes(quota)} are used)` : "";
    this.store.warn(
      `The browser’s storage for this site is full${room}, so “${name}” is there until the page is loaded anew. Delete files that you no longer need.`,
    );
  }

  /** List the files of the open program again. */
  async #refresh(): Promise<void> {
    const program = this.#program;
    const stored = (await this.#tried(() => disk.list(program))) ?? new Map<string, File>();
    const room = await estimate();
    if (program !== this.#program) return;
    this.#stored = stored;
    this.isOpen = true;
    this.#show();
    this.lost = namesIn(HELD + program).filter((name) => !this.store.view.ownFiles.some((file) => file.name === name));
    this.store.change({ room });
  }

  /** Report the open program's files to the page. */
  #show(): void {
    const held = this.#held.get(this.#program) ?? new Map<string, Blob>();
    const all = new Map<string, Blob>([...this.#stored, ...held]);
    const ownFiles = [...all]
      .map(([name, data]) => ({ name, data, isKept: !held.has(name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    this.store.change({ ownFiles });
  }

  /** Run an operation on the disk; do nothing where the browser has no file storage. */
  async #tried<T>(act: () => Promise<T>): Promise<T | null> {
    try {
      return await act();
    } catch {
      // Adding a file warns of a missing disk; nothing else needs to.
      return null;
    }
  }

  /** Run operations one after another, since each reads the current files. */
  #after(act: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(act);
    this.#queue = done.catch((error: unknown) => this.store.warn(`Files: ${String(error)}`));
    return this.#queue;
  }
}

async function estimate(): Promise<{ usage: number; quota: number }> {
  try {
    const { usage = 0, quota = 0 } = await navigator.storage.estimate();
    return { usage, quota };
  } catch {
    return { usage: 0, quota: 0 };
  }
}

function namesIn(key: string): string[] {
  try {
    const names: unknown = JSON.parse(recall(key) ?? "[]");
    return Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [];
  } catch {
    return [];
  }
}
