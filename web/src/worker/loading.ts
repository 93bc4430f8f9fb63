/** Loads Python in the worker: Pyodide, our wheel, a memory snapshot. */

import type { PyodideAPI, loadPyodide as LoadPyodide } from "pyodide";
import type { Note } from "../page/messages";
import { FORMAT, split, type CoreFiles } from "./fetching";

const PAGE = 1 << 16;
const WORD = Float64Array.BYTES_PER_ELEMENT;

/**
 * Run `load` while Pyodide's module is one that is compiled early, whose memory starts with
 * at least this many bytes: Pyodide copies a snapshot into the memory that its module
 * declares, and refuses a larger one.
 */
async function withModule<T>(compiled: Promise<WebAssembly.Module>, bytes: number, load: () => Promise<T>): Promise<T> {
  const { instantiate, instantiateStreaming } = WebAssembly;
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await compiled;
    const instance = await instantiate(module, imports);
    grow(instance, bytes);
    return { module, instance };
  };
  try {
    return await load();
  } finally {
    Object.assign(WebAssembly, { instantiateStreaming });
  }
}

/** Grow the memory that an instance exports, where it is smaller. */
function grow(instance: WebAssembly.Instance, bytes: number): void {
  const { memory } = instance.exports;
  if (!(memory instanceof WebAssembly.Memory)) return;
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}

/** The build's description of the site; sizes are bytes before compression. */
export interface BuildInfo {
  version: string;
  pyodide: string;
  python: string;
  /** The files of our wheel. */
  ours: string;
  /** The part of these and of the standard library that no start reads. */
  later: string;
  wheelHash: string;
  /** SHA-256 of Python's standard library, which a snapshot refers to by offsets. */
  libraryHash: string;
  sizes: Record<string, number>;
  /** Packages bundled with the site, by import name. */
  compiled: Record<string, string>;
}

export interface Loaded {
  python: PyodideAPI;
  snapshot: boolean;
  /** SHA-256 of the cached snapshot, null if there is none. */
  digest: Promise<string | null>;
  /** Fetch and write what no start reads. */
  complete(): void;
}

type Report = (note: Note) => void;
type Options = NonNullable<Parameters<typeof LoadPyodide>[0]>;
type Snapshotting = PyodideAPI & { makeMemorySnapshot(): Uint8Array };

const CACHE = "tensorweb-snapshot";

/**
 * Resolve relative addresses against the site, and set the worker's own address:
 * it was started from a `blob:` address, which has no folder.
 */
export function resolveAddresses(base: URL): void {
  const full = (address: unknown): unknown =>
    typeof address === "string" ? new URL(address, base) : address;
  const plain = globalThis.fetch.bind(globalThis);
  globalThis.fetch = (input, init) => plain(full(input) as RequestInfo | URL, init);
  globalThis.Request = new Proxy(Request, {
    construct: (target, [input, init], self) => Reflect.construct(target, [full(input), init], self) as Request,
  });
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method: string, url: string | URL, ...rest: unknown[]) {
    Reflect.apply(open, this, [method, full(url), ...rest]);
  };
  const { href, origin, protocol, host, hostname, port, pathname } = new URL("worker.js", base);
  const parts = { href, origin, protocol, host, hostname, port, pathname, search: "", hash: "" };
  const value = Object.freeze({ ...parts, toString: () => href });
  Object.defineProperty(globalThis, "location", { value, configurable: true });
}

/**
 * Load Pyodide and our package, from the memory snapshot of this build that has this
 * digest. Other cached snapshots may have been written by a program.
 */
export async function loadPython(
  base: URL,
  build: BuildInfo,
  files: CoreFiles,
  stored: Promise<StoredSnapshot | null>,
  digest: string | null,
  report: Report,
): Promise<Loaded> {
  const home = new URL("pyodide/", base).href;
  const later = new URL(build.later, base);
  const keeping = checked(stored, digest);
  // On a slow line Python starts earlier if its own files do not share the line with ours.
  const first = digest === null ? files.settled : Promise.resolve();
  const ours = first.then(() => fetch(new URL(build.ours, base))).then(unpacked);
  ours.catch(() => undefined);
  const scripts = loadDrivers(base, build);
  scripts.catch(() => undefined);
  const module = `${home}pyodide.mjs`;
  const { loadPyodide } = (await import(module)) as { loadPyodide: typeof LoadPyodide };
  const cachedSnapshot = await keeping;
  const options: Options = { indexURL: home, packageBaseUrl: home };
  if (cachedSnapshot) {
    try {
      report({ note: "step", text: "Restoring Python" });
      const restoring = { ...options, _loadSnapshot: cachedSnapshot } as Options;
      const python = await withModule(files.compiled, cachedSnapshot.byteLength, () => loadPyodide(restoring));
      install(python, await ours);
      const complete = completion(python, files, later);
      await scripts;
      return { python, snapshot: true, digest: Promise.resolve(digest), complete };
    } catch (error) {
      console.info("The memory snapshot could not be used:", error);
      await caches.delete(CACHE);
    }
  }
  const starting = { ...options, _makeSnapshot: canKeep() } as Options;
  const python = await withModule(files.compiled, 0, () => loadPyodide(starting));
  report({ note: "step", text: "Starting Python" });
  install(python, await ours);
  expect(python, files, build.later);
  const complete = completion(python, files, later);
  await scripts;
  const made = canKeep() ? keepSnapshot(keyOf(base, build), python as Snapshotting) : Promise.resolve(null);
  return { python, snapshot: false, digest: made, complete };
}

/** Load the drivers' scripts, which our wheel uses instead of evaluating its own. */
async function loadDrivers(base: URL, build: BuildInfo): Promise<void> {
  const { href } = new URL(`tensorweb-drivers.js?${build.wheelHash.slice(0, 8)}`, base);
  await import(href);
}

async function unpacked({ ok, status, body, url }: Response): Promise<Uint8Array<ArrayBuffer>> {
  if (!ok || !body) throw new Error(`${new URL(url).pathname} answered ${status}`);
  const plain = body.pipeThrough(new DecompressionStream(FORMAT));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** Write our files. A snapshot contains memory only, so files are written at each start. */
function install(python: PyodideAPI, ours: Uint8Array<ArrayBuffer>): void {
  const { FS } = python;
  const folder = packagesOf(python);
  const made = new Set<string>();
  for (const [path, content] of contents(ours)) {
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(parent)) FS.mkdirTree(`${folder}/${parent}`);
    made.add(parent);
    FS.writeFile(`${folder}/${path}`, content, { canOwn: true });
  }
  // `importlib.invalidate_caches()` would import its module of metadata first, with all that needs.
  python.runPython(`import sys; sys.path_importer_cache.pop(${JSON.stringify(folder)}, None)`);
  // Python's `input()` reads lines from the page; the default would call `prompt`, which workers lack.
  python.setStdin({ error: true });
}

/** Let imports of missing modules wait. A snapshot contains the address, so it must hold on any origin. */
function expect(python: PyodideAPI, { gap }: CoreFiles, address: string): void {
  const { start, modules } = gap ?? { start: 0, modules: [] };
  const given = JSON.stringify(JSON.stringify([libraryOf(python), start, modules, address]));
  python.runPython(`from tensorweb.playground import late_modules; late_modules.expect(${given})`);
}

/** Return a function that writes what no start reads. Where it fails, imports ask for it again. */
function completion(python: PyodideAPI, files: CoreFiles, address: URL): () => void {
  const { FS } = python;
  const [library, folder] = [libraryOf(python), packagesOf(python)];
  const write = (later: Uint8Array<ArrayBuffer>): void => {
    const [[, missing] = ["", later], ...sources] = contents(later);
    const archive = FS.open(library, "r+");
    FS.write(archive, missing, 0, missing.length, files.gap?.start ?? 0);
    FS.close(archive);
    for (const [path, source] of sources) FS.writeFile(`${folder}/${path}`, source);
  };
  return () => {
    const coming = files.fetchLater(address).then(unpacked);
    coming.then(write).catch((error: unknown) => console.info("Sources could not be loaded:", error));
  };
}

/** The files in one file, whose line of JSON has their sizes by path. */
function contents(bytes: Uint8Array<ArrayBuffer>): [path: string, content: Uint8Array<ArrayBuffer>][] {
  const [sizes, rest] = split<Record<string, number>>(bytes);
  let start = 0;
  return Object.entries(sizes).map(([path, size]) => [path, rest.subarray(start, (start += size))]);
}

function packagesOf(python: PyodideAPI): string {
  return python.runPython("import site; site.getsitepackages()[0]") as string;
}

function libraryOf(python: PyodideAPI): string {
  return python.runPython("import sys; next(path for path in sys.path if path.endswith('.zip'))") as string;
}

function canKeep(): boolean {
  return self.isSecureContext && typeof caches !== "undefined";
}

/** A snapshot in the cache, which a program may have written. */
export interface StoredSnapshot {
  bytes: Uint8Array<ArrayBuffer>;
  digest: string;
}

/** The address of this build's snapshot. */
function keyOf(base: URL, { pyodide, libraryHash, wheelHash }: BuildInfo): string {
  return new URL(`snapshot-${pyodide}-${libraryHash.slice(0, 8)}-${wheelHash}`, base).href;
}

/** Read the snapshot of this build before it is known whether the page wants one; null if there is none. */
export async function readSnapshot(base: URL, build: BuildInfo): Promise<StoredSnapshot | null> {
  if (!canKeep()) return null;
  try {
    const response = await (await caches.open(CACHE)).match(keyOf(base, build));
    if (!response) return null;
    const bytes = new Uint8Array(await response.arrayBuffer());
    return { bytes, digest: await digestOf(bytes) };
  } catch {
    return null;
  }
}

/** Return the snapshot if it has the page's digest, else delete it. */
async function checked(stored: Promise<StoredSnapshot | null>, digest: string | null): Promise<Uint8Array | null> {
  const found = await stored;
  if (!found) return null;
  if (found.digest === digest) return withZeros(found.bytes);
  await caches.delete(CACHE).catch(() => undefined);
  return null;
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Copy Python's memory now, before any live browser object is in it. */
async function keepSnapshot(key: string, python: Snapshotting): Promise<string | null> {
  try {
    python.runPython("from tensorweb.playground.preload import preload; preload()");
    const bytes = withoutZeros(python.makeMemorySnapshot());
    const digest = await digestOf(bytes);
    void store(key, bytes).catch((error: unknown) =>
      console.info("The memory snapshot could not be cached:", error),
    );
    return digest;
  } catch (error) {
    console.info("No memory snapshot was made:", error);
    return null;
  }
}

/** The size of a snapshot, and ranges of its bytes; all others are zero. */
interface Sparse {
  size: number;
  ranges: [start: number, end: number][];
}

/** Leave out pages of zeros, a third of a snapshot: each later start reads it. */
function withoutZeros(memory: Uint8Array): Uint8Array<ArrayBuffer> {
  const words = new Float64Array(memory.buffer, memory.byteOffset, Math.floor(memory.length / WORD));
  const ranges: Sparse["ranges"] = [];
  for (let start = 0; start < memory.length; start += PAGE) {
    const end = Math.min(start + PAGE, memory.length);
    const isPage = end === start + PAGE;
    if (isPage && words.subarray(start / WORD, end / WORD).every((word) => Object.is(word, 0))) continue;
    const last = ranges.at(-1);
    if (last?.[1] === start) last[1] = end;
    else ranges.push([start, end]);
  }
  const head = new TextEncoder().encode(`${JSON.stringify({ size: memory.length, ranges } satisfies Sparse)}\n`);
  const stored = new Uint8Array(ranges.reduce((sum, [start, end]) => sum + end - start, head.length));
  stored.set(head);
  let at = head.length;
  for (const [start, end] of ranges) {
    stored.set(memory.subarray(start, end), at);
    at += end - start;
  }
  return stored;
}

function withZeros(stored: Uint8Array<ArrayBuffer>): Uint8Array {
  const [{ size, ranges }, bytes] = split<Sparse>(stored);
  const memory = new Uint8Array(size);
  let at = 0;
  for (const [start, end] of ranges) {
    memory.set(bytes.subarray(at, (at += end - start)), start);
  }
  return memory;
}

async function store(key: string, bytes: Uint8Array): Promise<void> {
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  const headers = { "content-type": "application/octet-stream" };
  await cache.put(key, new Response(bytes as Uint8Array<ArrayBuffer>, { headers }));
}
