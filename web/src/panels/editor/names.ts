/** What is known about names: Python says it while it is idle, a table of the site else. */

import type { Ask } from "../../page/editor";
import type { Explanation, Member } from "../../page/protocol";

/** The site's table: by path, members that explain themselves. */
type Table = Record<string, (Member & Explanation)[]>;

const OURS = "tensorweb";
const IMPORT = /^[ \t]*import[ \t]+([\w.]+)(?:[ \t]+as[ \t]+(\w+))?/gm;
const MOST_KNOWN = 500;

export class Names {
  #table: Promise<Table> | null = null;
  #known = new Map<string, Promise<unknown>>();

  constructor(readonly ask: Ask) {}

  /** Forget what a run before said. */
  forget(): void {
    this.#known.clear();
  }

  /** What can stand behind a dotted path; for "" the names of the last run. */
  async members(path: string, source: string): Promise<Member[]> {
    const told = await this.#told(`members ${path}`, () => this.ask("members", { path }));
    if (told?.length) return told;
    return path ? ((await this.#rows())[canonical(path, source)] ?? []) : [];
  }

  /** Signature and documentation of what a path names; null when nobody knows. */
  async explain(path: string, source: string): Promise<Explanation | null> {
    const told = await this.#told(`explain ${path}`, () => this.ask("explain", { path }));
    if (told?.signature) return told;
    const full = canonical(path, source);
    const dot = full.lastIndexOf(".");
    const rows = dot < 0 ? [] : ((await this.#rows())[full.slice(0, dot)] ?? []);
    return rows.find(({ name }) => name === full.slice(dot + 1)) ?? null;
  }

  /** Ask Python once, until the next run; null where it is busy or cannot say. */
  async #told<T>(key: string, ask: () => Promise<T> | null): Promise<T | null> {
    const known = this.#known.get(key) as Promise<T | null> | undefined;
    if (known) return known;
    const asked = ask()?.catch(() => null) ?? null;
    if (!asked) return null;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, asked);
    return asked;
  }

  #rows(): Promise<Table> {
    this.#table ??= fetch(new URL("./names.json", import.meta.url))
      .then((response) => response.json() as Promise<Table>)
      .catch(() => {
        this.#table = null;
        return {};
      });
    return this.#table;
  }
}

/** The path as the table has it: `tensorweb` is `tw` there, whatever a program calls it. */
function canonical(path: string, source: string): string {
  const dot = path.indexOf(".");
  const first = dot < 0 ? path : path.slice(0, dot);
  for (const [, module, as] of source.matchAll(IMPORT)) {
    if (module === OURS && (as ?? OURS) === first) return `tw${dot < 0 ? "" : path.slice(dot)}`;
  }
  return "";
}
