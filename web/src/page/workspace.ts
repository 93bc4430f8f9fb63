/** The open program: opened by address, saved while it is typed, never replaced without consent. */

import { LAST, linkId, ownDocument, type Documents, type OpenDocument } from "./documents";
import type { Editor } from "./editor";
import { decodeCode, encodeCode, readAddress, type Fragment } from "./link";
import { LinkView } from "./link-view";
import type { OwnFiles } from "./own-files";
import { renamed } from "./run-origin";
import type { Session } from "./session";
import { DOCUMENTED, recall, remember, type Refusal } from "./storage";
import { NOTHING, type Example, type Notice, type Pane, type Store } from "./view";

const REFUSALS: Record<Refusal, string> = {
  full: "The browser’s storage for this site is full, so your last changes are on this page only. Share or copy the program before you close it.",
  blocked: "The browser lets this page keep nothing, so your changes are on this page only. Share or copy the program before you close it.",
};

/** The title of programs that the site's own documents open. */
const DOCUMENTS = "From the documentation";

export class Workspace {
  readonly linkView: LinkView;
  #opened = new Map<string, OpenDocument>();
  #menu: Promise<void> = Promise.resolve();
  #generation = 0;
  /** The notice while the examples are not loaded. */
  #noMenu: Notice | null = null;
  /** The notice after Reset, while it applies. */
  #resetNotice: Notice | null = null;
  /** The conflict with another tab, and the id under which this tab's text is stored until it is resolved. */
  #conflict: { document: OpenDocument; copy: OpenDocument | null } | null = null;

  constructor(
    readonly store: Store,
    readonly documents: Documents,
    readonly editor: Editor,
    readonly session: Session,
    readonly files: OwnFiles,
    panels: readonly { id: string; pane: Pane }[],
  ) {
    this.linkView = new LinkView(store, panels);
    addEventListener("beforeunload", (event) => {
      if (this.documents.isUnstored) event.preventDefault();
    });
  }

  /** Load the examples, and open the program of the address, or else of the last visit. */
  async openFirst(): Promise<void> {
    this.store.change({ examples: [] });
    this.#menu = this.#loadMenu();
    await this.openAddress();
  }

  async openAddress(): Promise<void> {
    const edits = this.editor.edits();
    const generation = ++this.#generation;
    const { hash } = location;
    const fragment = readAddress(location);
    const isFirst = this.store.view.document === NOTHING;
    const { document, problem } = await this.#find(fragment);
    if (generation !== this.#generation) return;
    if (document) {
      const isNamed = fragment.code !== null || fragment.example !== null || fragment.own !== null;
      const address = isNamed && !problem ? hash : document.address;
      this.#arrive({ ...document, address }, edits);
      if (fragment.code !== null) void this.linkView.apply(document.id, fragment);
      if (!isFirst || document.kind === "link") this.store.hold();
    }
    if (problem) this.store.warn(problem);
  }

  openExample(id: string): void {
    const document = this.#example(id);
    if (document) this.open(document);
  }

  /** Open one of the reader's stored programs. */
  async openStored(id: string): Promise<void> {
    const generation = ++this.#generation;
    const document = await this.#storedDocument(id);
    if (document && generation === this.#generation) this.open(document);
  }

  /** Open a program that was open before on this page. */
  reopen(id: string): void {
    const document = this.#opened.get(id);
    if (document) this.open(document);
  }

  /** Show a program and put it into the address; Back returns to the previous one. */
  open(document: OpenDocument): void {
    this.#generation += 1;
    if (document.id !== this.store.view.document.id) this.#show(document);
    this.setAddress(document.address);
  }

  /** Save a program's current text; `id` is the program in which it was typed. */
  save(id: string, text: string): void {
    const opened = this.#opened.get(id) ?? (id === "" && text ? this.#adopt() : null);
    if (!opened) return;
    if (opened.kind === "example" && text === opened.original) return this.store.change({ typing: false });
    const document = opened.kind === "example" ? this.#fork(opened) : opened;
    if (this.#conflict?.document.id === document.id) this.#keepCopy(text);
    else {
      const outcome = this.documents.write(document, text);
      if (outcome === "changed elsewhere") this.#openConflict(document, text);
      else this.reportStorage(outcome);
    }
    if (document.id === this.store.view.document.id) {
      const edited = document.original !== null && text !== document.original;
      if (edited) remember(LAST, document.id);
      if (edited && this.#resetNotice && this.store.view.notice === this.#resetNotice) {
        this.store.dismiss();
      }
      const run = this.store.view.origins.output;
      const editedSince = run?.document === document.id && run.source !== text;
      const { view } = this.store;
      const unstored = this.documents.isUnstored;
      const isNews = edited !== view.edited || editedSince !== view.editedSince;
      if (isNews || view.typing || unstored !== view.unstored) {
        this.store.change({ edited, editedSince, typing: false, unstored });
      }
    }
  }

  reset(): void {
    const { editor } = this;
    const { view } = this.store;
    const { original } = view.document;
    if (original === null) return;
    const before = editor.source();
    editor.open(original);
    const undo = { label: "Undo", run: () => this.#restore(view.document.id, before) };
    this.#resetNotice = { kind: "info", text: "This is the original program again.", actions: [undo] };
    this.store.notify(this.#resetNotice);
  }

  /** Resolve the conflict with another tab: keep this tab's text. */
  keepMine(): void {
    const { document } = this.#closeConflict();
    if (document) this.reportStorage(this.documents.overwrite(document, this.#source()));
  }

  /** Resolve the conflict with another tab: take its text; Undo restores this tab's. */
  takeTheirs(): void {
    const { document } = this.#closeConflict();
    if (!document) return;
    this.documents.accept(document.id);
    const theirs = this.documents.stored(document.id) ?? document.original ?? "";
    this.editor.open(theirs);
    this.save(document.id, theirs);
  }

  async #loadMenu(): Promise<void> {
    try {
      const response = await fetch(new URL("examples.json", document.baseURI));
      if (!response.ok) throw new Error(String(response.status));
      this.store.change({ examples: (await response.json()) as Example[] });
      const { notice } = this.store.view;
      if (notice && notice === this.#noMenu) this.store.dismiss();
    } catch {
      const again = { label: "Try again", run: () => void this.openFirst() };
      const text = "The examples could not be loaded; you can write your own program.";
      this.#noMenu = { kind: "warning", text, actions: [again] };
      this.store.change({ examples: null, notice: this.#noMenu });
    }
  }

  /** Return the program of an address, or the default one and a description of the problem. */
  async #find(fragment: Fragment): Promise<{ document: OpenDocument | null; problem: string | null }> {
    if (fragment.code !== null) {
      try {
        const original = await decodeCode(fragment.code);
        const isOurs = fragment.code === recall(DOCUMENTED);
        return { document: await linked(original, fragment.code, isOurs ? DOCUMENTS : undefined), problem: null };
      } catch {
        const problem = "The program in this link is damaged and could not be opened.";
        return { document: await this.#usual(), problem };
      }
    }
    if (fragment.own !== null) {
      const document = await this.#storedDocument(`own-${fragment.own}`);
      if (document) return { document, problem: null };
      return { document: await this.#usual(), problem: "This browser has no such program of yours." };
    }
    if (fragment.example === null) return { document: await this.#usual(), problem: null };
    await this.#menu;
    const document = this.#example(fragment.example);
    if (document || !this.store.view.examples?.length) return { document, problem: null };
    const problem = `There is no example named “${fragment.example.slice(0, 80)}”.`;
    return { document: await this.#usual(), problem };
  }

  /** The program that is open, or was at the last visit, or the first example. */
  async #usual(): Promise<OpenDocument | null> {
    const { document } = this.store.view;
    if (document !== NOTHING) return document;
    const last = recall(LAST);
    const stored = last === null ? null : await this.#storedDocument(last);
    if (stored) return stored;
    await this.#menu;
    const first = this.store.view.examples?.[0];
    return (last === null ? null : this.#example(last)) ?? (first ? exampleDocument(first) : null);
  }

  #example(id: string): OpenDocument | null {
    const example = this.store.view.examples?.find(({ file }) => idOf(file) === id);
    return example ? exampleDocument(example) : null;
  }

  async #storedDocument(id: string): Promise<OpenDocument | null> {
    const known = this.#opened.get(id);
    if (known && known.kind !== "example") return known;
    const program = this.documents.find(id);
    if (!program) return null;
    if (program.original === null || id.startsWith("own-")) return ownDocument(program);
    return linked(program.original, await encodeCode(program.original), program.title);
  }

  /** Show the program of an address, unless the reader has typed in the meantime. */
  #arrive(document: OpenDocument, edits: number): void {
    const { editor } = this;
    const { view } = this.store;
    if (editor.edits() !== edits && editor.source() !== "") {
      editor.flush();
      this.setAddress(this.store.view.document.address);
      if (this.store.view.document.id === document.id) return;
      const text = `“${document.title}” is ready; what you were typing stayed here.`;
      const actions = [{ label: "Open it", run: () => this.open(document) }];
      this.store.notify({ kind: "info", text, actions });
      return;
    }
    if (document.id !== view.document.id) this.#show(document);
    // The reader did not choose this step, so it gets no entry in the history.
    if (location.hash !== document.address) history.replaceState(null, "", document.address);
  }

  #show(document: OpenDocument): void {
    const { editor } = this;
    const { view } = this.store;
    editor.flush();
    const left = this.#conflict;
    this.#conflict = null;
    if (view.queued) this.session.stop();
    this.#opened.set(document.id, document);
    this.session.isolate(document.id, document.isForeign);
    this.files.open(document.id);
    const stored = this.documents.read(document.id);
    editor.show(document.id, stored ?? document.original ?? "", document.isForeign);
    const edited = document.original !== null && stored !== null && stored !== document.original;
    if (document.kind !== "link" || edited) remember(LAST, document.id);
    const list = this.documents.list();
    this.store.change({ document, edited, programs: list, notice: null, conflict: null, tensor: "", focus: null, sent: null });
    this.linkView.forget();
    this.store.change({ panel: "editor" });
    if (document.kind === "link") {
      const isOurs = document.title === DOCUMENTS;
      const text = isOurs ? "This program is from the documentation. Press Run." : "This program came with a link. Read it, then press Run if you trust it.";
      this.store.notify({ kind: "info", text });
    }
    if (left?.copy) {
      const text = `“${left.document.title}” was changed in another tab; this tab’s version is stored as “${left.copy.title}”.`;
      this.store.notify({ kind: "warning", text });
    }
  }

  /** Save text that was typed before any program was loaded as one of the reader's own. */
  #adopt(): OpenDocument {
    const document = this.documents.newOwn();
    this.#opened.set(document.id, document);
    this.session.isolate(document.id, false);
    this.files.move("", document.id);
    this.editor.rename(document.id);
    this.store.change({ document, edited: false });
    remember(LAST, document.id);
    this.setAddress(document.address);
    return document;
  }

  /** Examples are never changed: edits of one create a program of the reader's own. */
  #fork(example: OpenDocument): OpenDocument {
    const { editor, session } = this;
    const { view } = this.store;
    const document = this.documents.newOwn({ original: example.original });
    this.#opened.set(document.id, document);
    editor.rename(document.id);
    session.rename(document.id);
    this.files.move(example.id, document.id);
    this.store.change({ document, origins: renamed(view.origins, example.id, document) });
    remember(LAST, document.id);
    if (["", example.address].includes(location.hash)) this.setAddress(document.address);
    return document;
  }

  /** Rename an opened program. */
  retitle(id: string, title: string): void {
    const known = this.#opened.get(id);
    if (!known || known.title === title) return;
    const document = { ...known, title };
    this.#opened.set(id, document);
    if (this.store.view.document.id === id) this.store.change({ document });
  }

  /** Remove a deleted program, and show another one instead. */
  async leave(id: string): Promise<void> {
    this.#opened.delete(id);
    if (recall(LAST) === id) remember(LAST, null);
    if (this.store.view.document.id !== id) return;
    await this.#menu;
    const example = this.store.view.examples?.[0];
    const next = example ? exampleDocument(example) : this.documents.newOwn();
    if (this.store.view.document.id !== id) return;
    this.#show(next);
    history.replaceState(null, "", next.address);
  }

  #restore(id: string, text: string): void {
    this.reopen(id);
    this.editor.open(text);
    this.store.dismiss();
  }

  changedElsewhere(id: string | null): void {
    const { document } = this.store.view;
    if (id !== null) this.retitle(id, this.documents.find(id)?.title ?? this.#opened.get(id)?.title ?? "");
    if (id === null || id === document.id) {
      const text = this.#source();
      const differs = this.documents.isChangedElsewhere(document, text);
      if (!differs) {
        if (this.#conflict) this.#closeConflict();
        this.documents.accept(document.id);
      } else if (!this.#conflict) this.#openConflict(document, text);
    }
    this.store.change({ programs: this.documents.list() });
  }

  #openConflict(document: OpenDocument, text: string): void {
    const isMine = text !== (document.original ?? "");
    const copy = isMine ? this.#copyOf(document) : null;
    this.#conflict = { document, copy };
    if (copy) this.#keepCopy(text);
    this.store.change({ conflict: document.title });
  }

  #keepCopy(text: string): void {
    if (!this.#conflict) return;
    const { document } = this.#conflict;
    this.#conflict.copy ??= this.#copyOf(document);
    this.reportStorage(this.documents.overwrite(this.#conflict.copy, text));
  }

  #copyOf(document: OpenDocument): OpenDocument {
    return this.documents.newOwn({ ...document, title: `${document.title} (other tab)` });
  }

  /** Clear the conflict and delete the copy. */
  #closeConflict(): { document: OpenDocument | null } {
    const conflict = this.#conflict;
    this.#conflict = null;
    if (conflict?.copy) this.documents.forget(conflict.copy.id);
    this.store.change({ conflict: null });
    return { document: conflict?.document ?? null };
  }

  /** Report that the browser refuses to store edits, or that it accepts them again. */
  reportStorage(outcome: "stored" | Refusal): void {
    const { notice } = this.store.view;
    const isSaid = Object.values(REFUSALS).includes(notice?.text ?? "");
    if (outcome === "stored") {
      if (isSaid && !this.documents.isUnstored) this.store.dismiss();
    } else if (!isSaid) this.store.warn(REFUSALS[outcome]);
  }

  #source(): string {
    return this.editor.source();
  }

  /** Put the open program into the address; Back returns to the previous address. */
  setAddress(address: string): void {
    if (address !== location.hash) history.pushState(null, "", address || location.pathname);
  }
}

function exampleDocument({ file, title, source }: Example): OpenDocument {
  const id = idOf(file);
  return { id, kind: "example", title, original: source, address: `#ex=${id}`, isForeign: false };
}

async function linked(original: string, code: string, title = "Shared program"): Promise<OpenDocument> {
  const id = await linkId(original);
  return { id, kind: "link", title, original, address: `#code=${code}`, isForeign: true };
}

/** `01-tour.py` is the example `01-tour`. */
export function idOf(file: string): string {
  return file.replace(/\.py$/, "");
}
