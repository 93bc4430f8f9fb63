/** The table of one build's files; the build prepends it to this script. */

/** The build's entry of a file: its SHA-256, the index of its headers, whether it is always cached. */
export type FileEntry = readonly [digest: string, headers: number, isKept: boolean];

export interface SiteTable {
  /** A digest of all files of the site. */
  id: string;
  /** A site in development: every visit checks whether the host has a new build. */
  live: boolean;
  files: Record<string, FileEntry>;
  headers: Record<string, string>[];
  /** Headers of whatever is no file of this build. */
  shared: Record<string, string>;
}

export interface SiteFile {
  path: string;
  digest: string;
  headers: Record<string, string>;
  isKept: boolean;
}

const INDEX = "index.html";
export const START = INDEX;
/** Folder of the pages that are cached when they are read. */
export const DOCUMENTS = "docs/";

/** The files of a build by their addresses, which begin with the service worker's scope. */
export class Site {
  constructor(
    readonly table: SiteTable,
    readonly scope: string,
  ) {}

  /** Every file that a later visit may need. */
  get cached(): SiteFile[] {
    return Object.keys(this.table.files)
      .map((path) => this.#entry(path))
      .filter((file): file is SiteFile => file?.isKept === true);
  }

  /** The SHA-256 of every file. */
  get digests(): Set<string> {
    return new Set(Object.values(this.table.files).map(([digest]) => digest));
  }

  file(path: string): SiteFile {
    const file = this.#entry(path);
    if (!file) throw new Error(`internal: the site has no ${path}`);
    return file;
  }

  /** The file of a request; null if the request is for no file of the site. */
  find({ method, url, headers, cache }: Request): SiteFile | null {
    if (method !== "GET" || headers.has("range") || cache === "only-if-cached") return null;
    const { origin, pathname } = new URL(url);
    const address = origin + pathname;
    if (!address.startsWith(this.scope)) return null;
    const path = address.slice(this.scope.length);
    return this.#entry(path === "" || path.endsWith("/") ? path + INDEX : path);
  }

  /** The address of a file; hosts may redirect from the name of an index. */
  address({ path }: SiteFile): string {
    const isIndex = path === INDEX || path.endsWith(`/${INDEX}`);
    return this.scope + (isIndex ? path.slice(0, -INDEX.length) : path);
  }

  #entry(path: string): SiteFile | null {
    const entry = Object.hasOwn(this.table.files, path) ? this.table.files[path] : undefined;
    if (!entry) return null;
    const [digest, headers, isKept] = entry;
    return { path, digest, headers: this.table.headers[headers] ?? {}, isKept };
  }
}
