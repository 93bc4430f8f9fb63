/** Commands for the reader's stored programs: list, create, copy, delete. */

import type { Documents, KeptDocument } from "./documents";
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
    this.store.change({ kept: this.#documents.list() });
  }

  /** Create an empty program, or one from a file; the open program stays as it is. */
  create(title?: string, text = ""): void {
    const name = title?.trim().slice(0, LONGEST_TITLE);
    const document = this.#documents.newOwn(name ? { title: name } : {});
    const outcome = text ? this.#documents.overwrite(document, pack([{ name: MAIN, text }])) : "kept";
    this.workspace.open(document);
    this.workspace.tellOfStorage(outcome);
  }

  rename(id: string, title: string): void {
    this.workspace.editor.flush();
    const name = title.trim().slice(0, LONGEST_TITLE);
    if (!name) return;
    this.workspace.tellOfStorage(this.#documents.rename(id, name));
    this.workspace.retitle(id, name);
    this.list();
  }

  /** Copy the program as one of the reader's own, and open it. */
  duplicate(id: string): void {
    this.workspace.editor.flush();
    const kept = this.#documents.find(id);
    if (!kept) return;
    const { original, isForeign } = kept;
    const copy = this.#documents.newOwn({ title: `${kept.title} (copy)`, original, isForeign });
    const outcome = this.#documents.overwrite(copy, kept.text);
    this.workspace.files.copy(id, copy.id);
    this.workspace.open(copy);
    this.workspace.tellOfStorage(outcome);
  }

  /** Delete a program, and offer to undo it. */
  async delete(id: string): Promise<void> {
    this.workspace.editor.flush();
    const kept = this.#documents.find(id);
    if (!kept) return;
    const wasOpen = this.store.view.document.id === id;
    this.#documents.forget(id);
    this.workspace.files.leave(id);
    await this.workspace.leave(id);
    const actions = [{ label: "Undo", run: () => void this.#bringBack(kept, wasOpen) }];
    this.store.notify({ kind: "info", text: `“${kept.title}” is deleted.`, actions });
    this.list();
  }

  async #bringBack(kept: KeptDocument, opens: boolean): Promise<void> {
    const outcome = this.#documents.restore(kept);
    this.workspace.files.comeBack(kept.id);
    this.store.dismiss();
    if (opens) await this.workspace.openKept(kept.id);
    this.workspace.tellOfStorage(outcome);
    this.list();
  }
}
