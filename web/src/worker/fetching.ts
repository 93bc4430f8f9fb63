/**
 * Python's own files: fetched ahead of requests, decompressed and counted as they
 * arrive. Large files are compressed in the site, so that no host need compress them.
 */

import type { Note } from "../page/messages";

type Report = (note: Note) => void;

/** The MIME type of a decompressed file; browsers compile WebAssembly only with its own. */
const PACKED: Record<string, string> = {
  "pyodide.asm.wasm": "application/wasm",
  "python_stdlib.zip": "application/zip",
};
const ENDING = ".packed";
/** How the site compresses files. */
export const FORMAT = "gzip";
/** Small files that are always needed. */
const PLAIN = ["build.json", "pyodide/pyodide-lock.json"];
const MODULES = ["pyodide.mjs", "pyodide.asm.mjs"];

export class CoreFiles {
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
    for (const name of Object.keys(PACKED)) this.#expect(this.#address(name), this.#unpack(name));
    for (const path of PLAIN) {
      const url = new URL(path, base);
      this.#expect(url.href, this.#get(url));
    }
    // Pyodide's loader requests its second script only after it has read the lock file.
    for (const name of MODULES) import(this.#address(name)).catch(() => undefined);
  }

  /** Respond to requests for these files from now on, and report progress. */
  serve(sizes: Record<string, number>, report: Report): void {
    const packed = Object.keys(PACKED).map((name) => `pyodide/${name}${ENDING}`);
    this.#total = packed.reduce((sum, path) => sum + (sizes[path] ?? 0), 0);
    this.#report = report;
    this.#add(0);
    globalThis.fetch = (input, init) => this.take(input, init);
  }

  /** Respond to a request; each file is used once. */
  take(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : String(input), this.base);
    const early = this.#coming.get(url.href);
    this.#coming.delete(url.href);
    if (early) return early;
    const name = Object.keys(PACKED).find((name) => url.href === this.#address(name));
    return name ? this.#unpack(name) : this.#get(url, input instanceof Request ? input : url, init);
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

  /** Read a compressed file to its end at once; Pyodide reads a copy. */
  async #unpack(name: string): Promise<Response> {
    const { body, ok, status } = await this.#get(new URL(this.#address(name) + ENDING));
    if (!ok || !body) return new Response(null, { status });
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (part, controller) => {
        this.#add(part.byteLength);
        controller.enqueue(part);
      },
    });
    const plain = body.pipeThrough(count).pipeThrough(new DecompressionStream(FORMAT));
    const [first, second] = plain.tee();
    void drain(first).catch(() => this.#fail(new Error(`${name} could not be loaded: it came incomplete or damaged`)));
    return new Response(second, { headers: { "content-type": PACKED[name] ?? "" } });
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

async function drain(stream: ReadableStream): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}
