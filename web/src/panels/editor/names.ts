/** Completions: from Python while it is idle, otherwise from a table of the site. */

import type { EditorState } from "@codemirror/state";
import type { SendRequest } from "../../page/editor";
import type { Explanation, Member } from "../../page/protocol";
import { imported } from "./name-origins";

/** A completion with its documentation, and the path of its result if that has members. */
type Entry = Member & Explanation & { gives?: string };

/** The site's table of members by path. */
type Table = Record<string, Entry[]>;

const OURS = /^tensorweb\b/;
const STEPS = /\w+|\(\)|\[\]/g;
const SOME = "[]";
const MOST_KNOWN = 500;

export class Names {
  #table: Promise<Table> | null = null;
  #known = new Map<string, Promise<unknown>>();

  constructor(readonly request: SendRequest) {}

  /** Drop completions of the previous run. */
  forget(): void {
    this.#known.clear();
  }

  /** Members of a path; for "" the names of the last run. Names that the text binds need no run. */
  async members(path: string, state: EditorState): Promise<Member[]> {
    const result = await this.#members(path, false);
    if (result?.length || !path) return result ?? [];
    const full = imported(path, state);
    if (full === null) return [];
    const members = await this.#members(full, true);
    return members?.length ? members : membersIn(await this.#entries(), full);
  }

  /** Signature and documentation of a path; null if unknown. */
  async explain(path: string, state: EditorState): Promise<Explanation | null> {
    const result = await this.#explain(path, false);
    if (result?.signature) return result;
    const full = imported(path, state);
    const [before, name] = parted(full ?? "");
    // The text may bind the name to another value.
    if (full === null || name !== parted(path)[1]) return null;
    const explanation = await this.#explain(full, true);
    if (explanation?.signature) return explanation;
    return membersIn(await this.#entries(), before).find((entry) => entry.name === name) ?? null;
  }

  #members(path: string, isImported: boolean): Promise<Member[] | null> {
    return this.#cached(`members ${path} ${isImported}`, () => this.request("members", { path, imported: isImported }));
  }

  #explain(path: string, isImported: boolean): Promise<Explanation | null> {
    return this.#cached(`explain ${path} ${isImported}`, () => this.request("explain", { path, imported: isImported }));
  }

  /** Request from Python, once per run; null if Python is busy or does not know the path. */
  async #cached<T>(key: string, request: () => Promise<T> | null): Promise<T | null> {
    const known = this.#known.get(key) as Promise<T | null> | undefined;
    if (known) return known;
    const response = request()?.catch(() => null) ?? null;
    if (!response) return null;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, response);
    return response;
  }

  #entries(): Promise<Table> {
    this.#table ??= fetch(new URL("./names.json", import.meta.url))
      .then((response) => response.json() as Promise<Table>)
      .catch(() => {
        this.#table = null;
        return {};
      });
    return this.#table;
  }
}

/** A path without its last part, and the last part. */
function parted(path: string): [string, string] {
  const dot = path.lastIndexOf(".");
  return [path.slice(0, Math.max(dot, 0)), path.slice(dot + 1)];
}

/** The table's members of a path that begins with one of our modules, named `tw` in the table. */
function membersIn(table: Table, path: string): Entry[] {
  if (!OURS.test(path)) return [];
  let base = "";
  let given: string | undefined;
  for (const [step] of path.replace(OURS, "tw").matchAll(STEPS)) {
    if (step === "()") base = given ?? "";
    else if (step === SOME) base = (given ?? base).replace(SOME, "");
    else {
      given = table[base]?.find(({ name }) => name === step)?.gives;
      base = base ? `${base}.${step}` : step;
      // A property stands for its value.
      if (!table[base] && base.startsWith("tw.Tensor.") && given) base = given;
    }
  }
  return table[base] ?? [];
}
