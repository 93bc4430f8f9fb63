/** Stored programs: one record per program, with detection of edits by other tabs. */

import { keysWith, onOtherTabs, recall, remember, type Refusal } from "./storage";

/** An editable program: an example, the program of a link, or one of the reader's own. */
export interface OpenDocument {
  id: string;
  kind: "example" | "link" | "own";
  title: string;
  /** The text that Reset restores; null for a program that began empty. */
  original: string | null;
  /** The address fragment that opens it. */
  address: string;
  /** Whether it came by a link: then it shares its Python with no other program. */
  isForeign: boolean;
}

/** The stored record of a program that differs from its original. */
interface StoredRecord {
  text: string;
  title: string;
  /** The original text, of the link or the example; null for a program that began empty. */
  original: string | null;
  /** Milliseconds since 1970. */
  changed: number;
  isForeign: boolean;
}

/** One entry of the list of stored programs. */
export interface StoredDocument extends StoredRecord {
  id: string;
}

export type Outcome = "stored" | "changed elsewhere" | Refusal;

const KEY = "document:";
const OLD_KEY = "code:";
/** Key of the count of programs the reader has created. */
const COUNT = "own-count";
/** Key of the program that was open last. */
export const LAST = "last";
const OWN = /^own-\d+$/;
const LINK = /^link-/;

export class Documents {
  /** The stored form as this tab last read or wrote it, by program. */
  #seen = new Map<string, string | null>();
  /** Records that the browser refused to store; retained while the page is open. */
  #unstored = new Map<string, StoredRecord>();

  /** `onChange` is called with the id of a program that another tab stored, null if unknown. */
  constructor(onChange: (id: string | null) => void) {
    this.#adoptOldKeys();
    onOtherTabs((key) => {
      if (key === null) onChange(null);
      else if (key.startsWith(KEY)) onChange(key.slice(KEY.length));
    });
  }

  /** Whether edits exist on this page only. */
  get isUnstored(): boolean {
    return this.#unstored.size > 0;
  }

  /** The stored text of a program, null if it is unchanged. */
  read(id: string): string | null {
    const stored = recall(KEY + id);
    this.#seen.set(id, stored);
    return this.#unstored.get(id)?.text ?? parse(stored)?.text ?? null;
  }

  /** The currently stored text, by any tab; null if the program is unchanged. */
  stored(id: string): string | null {
    return parse(recall(KEY + id))?.text ?? null;
  }

  /** Whether another tab has stored another text since this tab last read it. */
  isChangedElsewhere({ id, kind, original }: OpenDocument, text: string): boolean {
    const now = recall(KEY + id);
    if (!this.#seen.has(id) || now === this.#seen.get(id)) return false;
    // A program deleted in another tab is stored again when it is edited here.
    if (now === null && kind === "own") return false;
    return (parse(now)?.text ?? original ?? "") !== text;
  }

  /** Store a text, unless another tab has stored a different one meanwhile. */
  write(document: OpenDocument, text: string): Outcome {
    if (this.isChangedElsewhere(document, text)) return "changed elsewhere";
    return this.overwrite(document, text);
  }

  /** Store a text and overwrite other tabs' versions; an unchanged program of a link is not stored. */
  overwrite({ id, kind, title, original, isForeign }: OpenDocument, text: string): "stored" | Refusal {
    const isAsItCame = kind !== "own" && text === (original ?? "");
    return this.#store(id, isAsItCame ? null : { text, title, original, changed: Date.now(), isForeign });
  }

  #store(id: string, record: StoredRecord | null): "stored" | Refusal {
    const stored = record && JSON.stringify(record);
    const refusal = remember(KEY + id, stored);
    if (refusal && record) {
      this.#unstored.set(id, record);
      return refusal;
    }
    this.#unstored.delete(id);
    this.#seen.set(id, stored);
    return "stored";
  }

  /** Accept the version that another tab stored as the current one. */
  accept(id: string): void {
    this.#seen.set(id, recall(KEY + id));
  }

  forget(id: string): void {
    remember(KEY + id, null);
    this.#seen.delete(id);
    this.#unstored.delete(id);
  }

  /** The reader's own programs and edited ones of links, the latest first. */
  list(): StoredDocument[] {
    const stored = this.#ids().map((id) => [id, parse(recall(KEY + id))] as const);
    const all = new Map<string, StoredRecord | null>([...stored, ...this.#unstored]);
    return [...all]
      .filter(([id]) => OWN.test(id) || LINK.test(id))
      .flatMap(([id, record]) => (record ? [{ id, ...record }] : []))
      .sort((a, b) => b.changed - a.changed);
  }

  /** The listed program with this id, or null. */
  find(id: string): StoredDocument | null {
    return this.list().find((program) => program.id === id) ?? null;
  }

  /** Rename a listed program; its text and date stay. */
  rename(id: string, title: string): "stored" | Refusal {
    const program = this.find(id);
    if (!program) return "stored";
    const { id: _, ...record } = program;
    return this.#store(id, { ...record, title });
  }

  /** Restore a deleted program from the record that `find` returned. */
  restore({ id, ...record }: StoredDocument): "stored" | Refusal {
    return this.#store(id, record);
  }

  /** Create a program of the reader's own with an unused id. */
  newOwn(from: Partial<Pick<OpenDocument, "title" | "original" | "isForeign">> = {}): OpenDocument {
    const taken = [...this.#ids(), ...this.#seen.keys(), ...this.#unstored.keys()]
      .filter((id) => OWN.test(id))
      .map((id) => Number(id.slice("own-".length)));
    const number = Math.max(Number(recall(COUNT)) || 0, ...taken) + 1;
    remember(COUNT, String(number));
    this.#seen.set(`own-${number}`, null);
    const { title = `My program ${number}`, original = null, isForeign = false } = from;
    return ownDocument({ id: `own-${number}`, title, original, isForeign });
  }

  #ids(): string[] {
    return keysWith(KEY).map((key) => key.slice(KEY.length));
  }

  /**
   * Earlier versions stored edits under the name of their example or link, the first
   * versions as bare texts. Each becomes a program of the reader's own.
   */
  #adoptOldKeys(): void {
    const bare = keysWith(OLD_KEY).map((key) => {
      const isForeign = LINK.test(key.slice(OLD_KEY.length));
      return { key, text: recall(key) ?? "", title: isForeign ? "Shared program" : "", isForeign };
    });
    const edits = this.#ids()
      .filter((id) => !OWN.test(id) && !LINK.test(id))
      .map((id) => ({ key: KEY + id, text: "", title: "", ...parse(recall(KEY + id)), isForeign: false }));
    for (const { key, text, title, isForeign } of [...bare, ...edits]) {
      const before = recall(key);
      // A full storage has no room for both.
      remember(key, null);
      if (text === "") continue;
      const document = this.newOwn({ isForeign, ...(title ? { title: `${title}, edited` } : {}) });
      if (this.overwrite(document, text) !== "stored") remember(key, before);
      else if (recall(LAST) === key.replace(/^\w+:/, "")) remember(LAST, document.id);
    }
  }
}

export function ownDocument(program: Pick<StoredDocument, "id" | "title" | "original" | "isForeign">): OpenDocument {
  const { id, title, original, isForeign } = program;
  return { id, kind: "own", title, original, isForeign, address: `#own=${id.replace("own-", "")}` };
}

/** The id of a link's program, from its digest: two programs never share one. */
export async function linkId(source: string): Promise<string> {
  // Without https there are no digests; the text itself serves as the id.
  if (!globalThis.isSecureContext) return `link-${source}`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(source));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `link-${hex.join("")}`;
}

/** The stored record, null if there is none or it is invalid. */
function parse(stored: string | null): StoredRecord | null {
  if (stored === null) return null;
  try {
    const record = JSON.parse(stored) as Partial<StoredRecord> | null;
    if (typeof record?.text !== "string") return null;
    return {
      text: record.text,
      title: typeof record.title === "string" ? record.title : "",
      original: typeof record.original === "string" ? record.original : null,
      changed: Number(record.changed) || 0,
      isForeign: record.isForeign === true,
    };
  } catch {
    return null;
  }
}
