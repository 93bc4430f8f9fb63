/** Commands for the reader's stored programs: list, create, copy, delete. */

import type { Documents, StoredDocument } from "./documents";
import { MAIN, pack } from "./program";
import type { Store } from "./view";
import type { Workspace } from "./workspace";

const LONGEST_TITLE = 80;

export class Library {
  readonly #documents: Documents;

  constructor(
    readonly store: Store,
    readonly workspace: Workspace,
  ) {
    this.#documents = workspace.documents;
  }

  /** List the programs, including pending edits. */
  list(): void {
    this.workspace.editor.flush();
    this.store.change({ programs: this.#documents.list() });
  }

  /** Create an empty program, or one from a file; the open program stays as it is. */
  create(title?: string, text = ""): void {
    const name = title?.trim().slice(0, LONGEST_TITLE);
    const document = this.#documents.newOwn(name ? { title: name } : {});
    const outcome = text ? this.#documents.overwrite(document, pack([{ name: MAIN, text }])) : "stored";
    this.workspace.open(document);
    this.workspace.reportStorage(outcome);
  }

  rename(id: string, title: string): void {
    this.workspace.editor.flush();
    const name = title.trim().slice(0, LONGEST_TITLE);
    if (!name) return;
    this.workspace.reportStorage(this.#documents.rename(id, name));
    this.workspace.retitle(id, name);
    this.list();
  }

  /** Copy the program as one of the reader's own, and open it. */
  duplicate(id: string): void {
    this.workspace.editor.flush();
    const program = this.#documents.find(id);
    if (!program) return;
    const { original, isForeign } = program;
    const copy = this.#documents.newOwn({ title: `${program.title} (copy)`, original, isForeign });
    const outcome = this.#documents.overwrite(copy, program.text);
    this.workspace.files.copy(id, copy.id);
    this.workspace.open(copy);
    this.workspace.reportStorage(outcome);
  }

  /** Delete a program, and offer to undo it. */
  async delete(id: string): Promise<void> {
    this.workspace.editor.flush();
    const program = this.#documents.find(id);
    if (!program) return;
    const wasOpen = this.store.view.document.id === id;
    this.#documents.forget(id);
    this.workspace.files.leave(id);
    await this.workspace.leave(id);
    const actions = [{ label: "Undo", run: () => void this.#bringBack(program, wasOpen) }];
    this.store.notify({ kind: "info", text: `“${program.title}” is deleted.`, actions });
    this.list();
  }

  async #bringBack(program: StoredDocument, opens: boolean): Promise<void> {
    const outcome = this.#documents.restore(program);
    this.workspace.files.comeBack(program.id);
    this.store.dismiss();
    if (opens) await this.workspace.openStored(program.id);
    this.workspace.reportStorage(outcome);
    this.list();
  }
}
