/**
 * Python's own files: fetched ahead of requests, decompressed and counted as they
 * arrive. Large files are compressed in the site, so that no host need compress them.
 */

import type { Note } from "../page/messages";

type Report = (note: Note) => void;

const WASM = "pyodide.asm.wasm";
const LIBRARY = "python_stdlib.zip";
const ENDING = ".packed";
const LINE_END = 10;
/** How the site compresses files. */
export const FORMAT = "gzip";
/** Small files that are always needed. */
const PLAIN = ["build.json", "pyodide/pyodide-lock.json"];
const MODULES = ["pyodide.mjs", "pyodide.asm.mjs"];

/** The bytes that the standard library lacks at the start, and the modules among them. */
export interface Gap {
  start: number;
  end: number;
  modules: string[];
}

/** A line of JSON, and the bytes behind it; `tools/bytecode.mjs` writes such files. */
export function split<T>(bytes: Uint8Array<ArrayBuffer>): [head: T, rest: Uint8Array<ArrayBuffer>] {
  const end = bytes.indexOf(LINE_END) + 1;
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as T;
  return [head, bytes.subarray(end)];
}

export class CoreFiles {
  /** The part of the standard library that is still missing; known once that has arrived. */
  gap: Gap | null = null;
  /** Pyodide's module, compiled while it arrives: its loader would begin much later. */
  readonly compiled: Promise<WebAssembly.Module>;
  /** Rejects with the name of a file that failed to load: for some files Pyodide waits forever. */
  readonly failed: Promise<never>;
  readonly #coming = new Map<string, Promise<Response>>();
  readonly #fetch = globalThis.fetch.bind(globalThis);
  #fail: (error: Error) => void = () => undefined;
  #done = 0;
  #total = 0;
  #last = 0;
  #report: Report | null = null;

  /** Begin to fetch, from the folder of the site. */
  constructor(readonly base: URL) {
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined);
    const headers = { "content-type": "application/wasm" };
    const compile = (plain: ReadableStream) => WebAssembly.compileStreaming(new Response(plain, { headers }));
    this.compiled = this.#unpack(WASM, compile);
    this.compiled.catch(() => undefined);
    this.#expect(this.#address(LIBRARY), this.#library());
    for (const path of PLAIN) {
      const url = new URL(path, base);
      this.#expect(url.href, this.#get(url));
    }
    // Pyodide's loader requests its second script only after it has read the lock file.
    for (const name of MODULES) import(this.#address(name)).catch(() => undefined);
  }

  /** Resolves when the large files have arrived or failed. */
  get settled(): Promise<unknown> {
    return Promise.allSettled([this.compiled, ...this.#coming.values()]);
  }

  /**
   * Respond to requests for these files, and report progress, until the returned function is
   * called: a program that loads a Python of its own needs the plain files.
   */
  serve(sizes: Record<string, number>, report: Report): () => void {
    const packed = [WASM, LIBRARY].map((name) => `pyodide/${name}${ENDING}`);
    this.#total = packed.reduce((sum, path) => sum + (sizes[path] ?? 0), 0);
    this.#report = report;
    this.#add(0);
    const plain = globalThis.fetch;
    globalThis.fetch = (input, init) => this.take(input, init);
    return () => {
      globalThis.fetch = plain;
    };
  }

  /** Respond to a request; each file is used once. */
  take(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : String(input), this.base);
    const early = this.#coming.get(url.href);
    this.#coming.delete(url.href);
    if (early) return early;
    // Pyodide's loader gets the compiled module instead.
    if (url.href === this.#address(WASM)) return Promise.resolve(new Response());
    if (url.href === this.#address(LIBRARY)) return this.#library();
    return this.#get(url, input instanceof Request ? input : url, init);
  }

  /** Fetch a file that no start needs: without it there is no failure yet. */
  fetchLater(url: URL): Promise<Response> {
    return this.#fetch(url);
  }

  #address(name: string): string {
    return new URL(`pyodide/${name}`, this.base).href;
  }

  #expect(address: string, coming: Promise<Response>): void {
    coming.catch(() => undefined);
    this.#coming.set(address, coming);
  }

  async #get(url: URL, input: Request | URL = url, init?: RequestInit): Promise<Response> {
    const name = url.pathname.split("/").at(-1) ?? url.pathname;
    let reason = "the server cannot be reached";
    try {
      const response = await this.#fetch(input, init);
      if (response.ok) return response;
      reason = `the server answered ${response.status}`;
      this.#fail(new Error(`${name} could not be loaded: ${reason}`));
      return response;
    } catch (error) {
      this.#fail(new Error(`${name} could not be loaded: ${reason}`));
      throw error;
    }
  }

  /** Read a compressed file to its end while it arrives. */
  async #unpack<T>(name: string, read: (plain: ReadableStream<Uint8Array>) => Promise<T>): Promise<T> {
    const { body, ok, status } = await this.#get(new URL(this.#address(name) + ENDING));
    if (!ok || !body) throw new Error(`the server answered ${status}`);
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (part, controller) => {
        this.#add(part.byteLength);
        controller.enqueue(part);
      },
    });
    try {
      return await read(body.pipeThrough(count).pipeThrough(new DecompressionStream(FORMAT)));
    } catch (error) {
      this.#fail(new Error(`${name} could not be loaded: it came incomplete or damaged`));
      throw error;
    }
  }

  /** Fetch the standard library; where its missing part will be the archive has zeros. */
  async #library(): Promise<Response> {
    const whole = await this.#unpack(LIBRARY, (plain) => new Response(plain).arrayBuffer());
    const [gap, parts] = split<Gap>(new Uint8Array(whole));
    const { start, end } = gap;
    const archive = new Uint8Array(parts.length + end - start);
    archive.set(parts.subarray(0, start));
    archive.set(parts.subarray(start), end);
    this.gap = gap;
    return new Response(archive, { headers: { "content-type": "application/zip" } });
  }

  #add(bytes: number): void {
    this.#done += bytes;
    const now = performance.now();
    const isOver = this.#done >= this.#total;
    if (!this.#report || (!isOver && now - this.#last < 40)) return;
    this.#last = now;
    this.#report({ note: "bytes", what: "Python", done: this.#done, total: Math.max(this.#total, this.#done) });
  }
}
