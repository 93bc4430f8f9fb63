/** The programs that this browser keeps: each by its own name, guarded against other tabs. */

import { keysWith, onOtherTabs, recall, remember, type Refusal } from "./storage";

/** A program that can be edited: an example, one that came by a link, or the reader's own. */
export interface OpenDocument {
  id: string;
  kind: "example" | "link" | "own";
  title: string;
  /** What Reset goes back to; null for the reader's own programs. */
  original: string | null;
  /** The fragment that opens it again. */
  address: string;
}

/** What is stored of a program that differs from its original. */
interface Kept {
  text: string;
  title: string;
  /** The program of a link as it came; examples have theirs on the site. */
  original: string | null;
  /** Milliseconds since 1970. */
  changed: number;
}

/** One line of the list of programs that only this browser has. */
export interface KeptDocument extends Kept {
  id: string;
}

export type Outcome = "kept" | "changed elsewhere" | Refusal;

const KEY = "document:";
const OLD_KEY = "code:";
const OWN = /^own-\d+$/;
const LINK = /^link-/;

export class Documents {
  /** The stored form as this tab last read or wrote it, by program. */
  #seen = new Map<string, string | null>();
  /** What the browser refused to store; kept as long as the page is open. */
  #unstored = new Map<string, string>();

  /** `tell` hears the program that another tab stored, null when it may be any. */
  constructor(tell: (id: string | null) => void) {
    this.#adoptOldKeys();
    onOtherTabs((key) => {
      if (key === null) tell(null);
      else if (key.startsWith(KEY)) tell(key.slice(KEY.length));
    });
  }

  /** Whether something typed is nowhere but on this page. */
  get isUnstored(): boolean {
    return this.#unstored.size > 0;
  }

  /** The text that is kept of a program, null when it is as it came. */
  read(id: string): string | null {
    const stored = recall(KEY + id);
    this.#seen.set(id, stored);
    return this.#unstored.get(id) ?? parse(stored)?.text ?? null;
  }

  /** What is stored now, by whichever tab; null when the program is as it came. */
  stored(id: string): string | null {
    return parse(recall(KEY + id))?.text ?? null;
  }

  /** Whether another tab has stored something else since this one last looked. */
  isChangedElsewhere({ id, original }: OpenDocument, text: string): boolean {
    const now = recall(KEY + id);
    if (!this.#seen.has(id) || now === this.#seen.get(id)) return false;
    return (parse(now)?.text ?? original ?? "") !== text;
  }

  /** Keep a text, unless another tab has stored another one meanwhile. */
  write(document: OpenDocument, text: string): Outcome {
    if (this.isChangedElsewhere(document, text)) return "changed elsewhere";
    return this.overwrite(document, text);
  }

  /** Keep a text whatever other tabs did; one that is as it came need not be kept. */
  overwrite({ id, title, original }: OpenDocument, text: string): "kept" | Refusal {
    const kept: Kept = { text, title, original: LINK.test(id) ? original : null, changed: Date.now() };
    const stored = text === (original ?? "") ? null : JSON.stringify(kept);
    const refusal = remember(KEY + id, stored);
    if (refusal) {
      this.#unstored.set(id, text);
      return refusal;
    }
    this.#unstored.delete(id);
    this.#seen.set(id, stored);
    return "kept";
  }

  /** Take what another tab stored for known. */
  accept(id: string): void {
    this.#seen.set(id, recall(KEY + id));
  }

  forget(id: string): void {
    remember(KEY + id, null);
    this.#seen.delete(id);
    this.#unstored.delete(id);
  }

  /** The reader's own programs and edited ones of links, the latest first. */
  list(): KeptDocument[] {
    return keysWith(KEY)
      .map((key) => key.slice(KEY.length))
      .filter((id) => OWN.test(id) || LINK.test(id))
      .map((id) => ({ id, kept: parse(recall(KEY + id)) }))
      .flatMap(({ id, kept }) => (kept ? [{ id, ...kept }] : []))
      .sort((a, b) => b.changed - a.changed);
  }

  /** A program of the reader's own that is in the list, or null. */
  find(id: string): KeptDocument | null {
    return this.list().find((kept) => kept.id === id) ?? null;
  }

  /** A name that no program of the reader's own has yet. */
  newOwn(title?: string): OpenDocument {
    const taken = new Set([...keysWith(KEY).map((key) => key.slice(KEY.length)), ...this.#seen.keys()]);
    let number = 1;
    while (taken.has(`own-${number}`)) number += 1;
    this.#seen.set(`own-${number}`, null);
    return ownDocument(`own-${number}`, title ?? `My program ${number}`);
  }

  /**
   * Earlier versions kept bare texts, and those of links under names that several links
   * can share: nobody can tell to which link such a text belongs, so it becomes a program
   * of the reader's own.
   */
  #adoptOldKeys(): void {
    for (const key of keysWith(OLD_KEY)) {
      const text = recall(key) ?? "";
      const id = key.slice(OLD_KEY.length);
      const document = LINK.test(id)
        ? this.newOwn("Shared program")
        : { id, kind: "example" as const, title: "", original: null, address: "" };
      if (recall(KEY + document.id) !== null || text === "") continue;
      // A full storage has no room for both.
      remember(key, null);
      if (this.overwrite(document, text) !== "kept") remember(key, text);
    }
  }
}

export function ownDocument(id: string, title: string): OpenDocument {
  return { id, kind: "own", title, original: null, address: `#own=${id.replace("own-", "")}` };
}

/** The name of a program that came by a link: two programs never share one. */
export async function linkId(source: string): Promise<string> {
  // Without https a page has no digests; the text itself is as good a name.
  if (!globalThis.isSecureContext) return `link-${source}`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(source));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `link-${hex.join("")}`;
}

/** What is stored, null for nothing and for what this page cannot have written. */
function parse(stored: string | null): Kept | null {
  if (stored === null) return null;
  try {
    const found = JSON.parse(stored) as Partial<Kept> | null;
    if (typeof found?.text !== "string") return null;
    return {
      text: found.text,
      title: typeof found.title === "string" ? found.title : "",
      original: typeof found.original === "string" ? found.original : null,
      changed: Number(found.changed) || 0,
    };
  } catch {
    return null;
  }
}
