/** Loads Python in the worker: Pyodide, our wheel, a memory snapshot. */

import type { PyodideAPI, loadPyodide as LoadPyodide } from "pyodide";
import type { Note } from "../page/messages";
import { FORMAT } from "./fetching";

const PAGE = 1 << 16;
const LINE_END = 10;

/**
 * Run `load` while every module's own memory starts with at least this many bytes: Pyodide
 * copies a snapshot into the memory that its module declares, and refuses a larger one.
 */
async function withRoomFor<T>(bytes: number, load: () => Promise<T>): Promise<T> {
  const { instantiate, instantiateStreaming } = WebAssembly;
  const roomy =
    <A extends unknown[], R>(plain: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const compiled = await plain.apply(WebAssembly, given);
      grow(compiled, bytes);
      return compiled;
    };
  WebAssembly.instantiate = roomy(instantiate as never) as typeof instantiate;
  WebAssembly.instantiateStreaming = roomy(instantiateStreaming);
  try {
    return await load();
  } finally {
    Object.assign(WebAssembly, { instantiate, instantiateStreaming });
  }
}

/** Grow the memory that an instance exports, where it has one that is smaller. */
function grow(compiled: unknown, bytes: number): void {
  const { instance } = compiled as Partial<WebAssembly.WebAssemblyInstantiatedSource>;
  const memory = instance?.exports.memory;
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
  digest: string | null,
  report: Report,
): Promise<Loaded> {
  const home = new URL("pyodide/", base).href;
  const key = new URL(`snapshot-${build.pyodide}-${build.libraryHash.slice(0, 8)}-${build.wheelHash}`, base).href;
  const keeping = findSnapshot(key, digest);
  const ours = fetchUnpacked(new URL(build.ours, base));
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
      const python = await withRoomFor(cachedSnapshot.byteLength, () => loadPyodide(restoring));
      install(python, await ours);
      await scripts;
      return { python, snapshot: true, digest: Promise.resolve(digest) };
    } catch (error) {
      console.info("The memory snapshot could not be used:", error);
      await caches.delete(CACHE);
    }
  }
  const python = await loadPyodide({
    ...options,
    _makeSnapshot: canKeep(),
  } as Options);
  report({ note: "step", text: "Starting Python" });
  install(python, await ours);
  await scripts;
  const made = canKeep() ? keepSnapshot(key, python as Snapshotting) : Promise.resolve(null);
  return { python, snapshot: false, digest: made };
}

/** Load the drivers' scripts, which our wheel uses instead of evaluating its own. */
async function loadDrivers(base: URL, build: BuildInfo): Promise<void> {
  const { href } = new URL(`tensorweb-drivers.js?${build.wheelHash.slice(0, 8)}`, base);
  await import(href);
}

async function fetchUnpacked(url: URL): Promise<Uint8Array> {
  const { ok, status, body } = await fetch(url);
  if (!ok || !body) throw new Error(`${url.pathname} answered ${status}`);
  const plain = body.pipeThrough(new DecompressionStream(FORMAT));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/**
 * Write our files, which follow a line of JSON with their sizes by path. A snapshot
 * contains memory only, so files are written at each start.
 */
function install(python: PyodideAPI, ours: Uint8Array): void {
  const { FS } = python;
  const folder = python.runPython("import site; site.getsitepackages()[0]") as string;
  let start = ours.indexOf(LINE_END) + 1;
  const sizes = JSON.parse(new TextDecoder().decode(ours.subarray(0, start))) as Record<string, number>;
  const made = new Set<string>();
  for (const [path, size] of Object.entries(sizes)) {
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (!made.has(parent)) FS.mkdirTree(`${folder}/${parent}`);
    made.add(parent);
    FS.writeFile(`${folder}/${path}`, ours.subarray(start, start + size), { canOwn: true });
    start += size;
  }
  python.runPython("import importlib; importlib.invalidate_caches()");
  // Python's `input()` reads lines from the page; the default would call `prompt`, which workers lack.
  python.setStdin({ error: true });
}

function canKeep(): boolean {
  return self.isSecureContext && typeof caches !== "undefined";
}

/** Return the cached snapshot; one with an unknown digest is deleted. */
async function findSnapshot(key: string, digest: string | null): Promise<Uint8Array | null> {
  if (!canKeep()) return null;
  try {
    const response = await (await caches.open(CACHE)).match(key);
    if (!response) return null;
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (digest !== null && (await digestOf(bytes)) === digest) return bytes;
    await caches.delete(CACHE);
    return null;
  } catch {
    return null;
  }
}

async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Copy Python's memory now, before any live browser object is in it. */
async function keepSnapshot(key: string, python: Snapshotting): Promise<string | null> {
  try {
    python.runPython("from tensorweb.playground.preload import preload; preload()");
    const bytes = python.makeMemorySnapshot();
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

async function store(key: string, bytes: Uint8Array): Promise<void> {
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  const headers = { "content-type": "application/octet-stream" };
  await cache.put(key, new Response(bytes as Uint8Array<ArrayBuffer>, { headers }));
}
