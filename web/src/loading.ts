/** Loading Python in the worker: counted bytes, our wheel, a memory snapshot. */

import type { PyodideAPI, loadPyodide as LoadPyodide } from "pyodide";
import type { Note } from "./protocol";

/** What the build tells about the site; sizes are bytes before compression. */
export interface BuildInfo {
  version: string;
  pyodide: string;
  python: string;
  wheel: string;
  wheelHash: string;
  numpy: boolean;
  sizes: Record<string, number>;
}

export interface Loaded {
  python: PyodideAPI;
  snapshot: boolean;
}

type Tell = (note: Note) => void;
type Options = NonNullable<Parameters<typeof LoadPyodide>[0]>;
type Snapshotting = PyodideAPI & { makeMemorySnapshot(): Uint8Array };

const CACHE = "tensorweb-snapshot";

const CORE = ["pyodide.asm.wasm", "python_stdlib.zip"];

/** Count the bytes of Python's own files as they are fetched and tell of them. */
export function countFetches(base: URL, build: BuildInfo, tell: Tell): void {
  const plain = globalThis.fetch.bind(globalThis);
  const files = Object.entries(build.sizes).filter(([path]) => isCore(path));
  const expected = files.reduce((sum, [, bytes]) => sum + bytes, 0);
  let done = 0;
  let last = 0;
  const add = (bytes: number, finished: boolean): void => {
    done += bytes;
    const now = performance.now();
    if (!finished && now - last < 40) return;
    last = now;
    const total = Math.max(expected, done);
    tell({ note: "bytes", what: "Python", done, total });
  };
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const path = new URL(response.url || String(input), base).pathname;
    if (!isCore(path) || !response.body) return response;
    void drain(response.clone(), add);
    return response;
  };
}

function isCore(path: string): boolean {
  return CORE.some((name) => path.endsWith(name));
}

/** Read a copy to its end; the original keeps its address and compiles as usual. */
async function drain(
  copy: Response,
  add: (bytes: number, finished: boolean) => void,
): Promise<void> {
  const reader = copy.body?.getReader();
  try {
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) break;
      add(part.value.byteLength, false);
    }
  } catch {
    // The original reports a broken download; the count only stops.
  }
  add(0, true);
}

/** Load Pyodide and our package, from a snapshot when one of this build is kept. */
export async function loadPython(base: URL, build: BuildInfo, tell: Tell): Promise<Loaded> {
  const home = new URL("pyodide/", base).href;
  const module = `${home}pyodide.mjs`;
  const { loadPyodide } = (await import(module)) as { loadPyodide: typeof LoadPyodide };
  const wheel = fetchBytes(new URL(build.wheel, base));
  wheel.catch(() => undefined);
  const key = new URL(`snapshot-${build.pyodide}-${build.wheelHash}`, base).href;
  const kept = await findSnapshot(key);
  const options: Options = { indexURL: home, packageBaseUrl: home };
  if (kept) {
    try {
      tell({ note: "step", text: "Restoring Python" });
      const python = await loadPyodide({ ...options, _loadSnapshot: kept } as Options);
      install(python, await wheel);
      return { python, snapshot: true };
    } catch (error) {
      console.info("The memory snapshot could not be used:", error);
      await caches.delete(CACHE);
    }
  }
  const python = await loadPyodide({
    ...options,
    _makeSnapshot: canKeep(),
  } as Options);
  tell({ note: "step", text: "Starting Python" });
  install(python, await wheel);
  if (canKeep()) keepSnapshot(key, python as Snapshotting);
  return { python, snapshot: false };
}

async function fetchBytes(url: URL): Promise<Uint8Array> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.pathname} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Unpack our wheel; a snapshot holds memory only, so files come anew each time. */
function install(python: PyodideAPI, wheel: Uint8Array): void {
  python.unpackArchive(wheel, "wheel");
}

function canKeep(): boolean {
  return self.isSecureContext && typeof caches !== "undefined" && !/[?&]snapshot=off/.test(location.search);
}

async function findSnapshot(key: string): Promise<Uint8Array | null> {
  if (!canKeep()) return null;
  try {
    const found = await (await caches.open(CACHE)).match(key);
    return found ? new Uint8Array(await found.arrayBuffer()) : null;
  } catch {
    return null;
  }
}

/** Copy Python's memory now, before any live browser object is in it. */
function keepSnapshot(key: string, python: Snapshotting): void {
  try {
    python.runPython("from tensorweb.playground.preload import preload; preload()");
    const bytes = python.makeMemorySnapshot();
    void store(key, bytes).catch((error: unknown) =>
      console.info("The memory snapshot could not be kept:", error),
    );
  } catch (error) {
    console.info("No memory snapshot was made:", error);
  }
}

async function store(key: string, bytes: Uint8Array): Promise<void> {
  await caches.delete(CACHE);
  const cache = await caches.open(CACHE);
  const headers = { "content-type": "application/octet-stream" };
  await cache.put(key, new Response(bytes as Uint8Array<ArrayBuffer>, { headers }));
}
