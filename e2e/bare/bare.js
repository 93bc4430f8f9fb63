// Pyodide of the built site with no files of our page; Python is entered in three ways.

const home = new URL("./site/pyodide/", import.meta.url).href;

export class Bare {
  python = null;
  memory = null;

  /**
   * Do one thing and return what it gives as text.
   *
   * load, record, restore: start Python; plainly, so that a snapshot can be made of it,
   * or from the snapshot of before. drivers: load the drivers' scripts, before devices
   * are opened. snapshot: keep Python's memory, return its bytes.
   * await, plain, callback: run code by runPythonAsync, by runPython, or the function
   * that it returns from a timer. A coroutine that a callback returns is awaited.
   */
  async do(kind, text) {
    try {
      return String(await this[kind](text));
    } catch (error) {
      throw new Error(`${error.type ?? error.name}: ${error.message}`);
    }
  }

  load() {
    return this.#start({});
  }

  record() {
    return this.#start({ _makeSnapshot: true });
  }

  /** Pyodide copies a snapshot into the memory its module begins with: grow it before. */
  async restore() {
    const { instantiateStreaming } = WebAssembly;
    WebAssembly.instantiateStreaming = async (...given) => {
      const found = await instantiateStreaming.apply(WebAssembly, given);
      const { memory } = found.instance.exports;
      const missing = this.memory.byteLength - (memory?.buffer.byteLength ?? Infinity);
      if (missing > 0) memory.grow(Math.ceil(missing / (1 << 16)));
      return found;
    };
    try {
      return await this.#start({ _loadSnapshot: this.memory });
    } finally {
      WebAssembly.instantiateStreaming = instantiateStreaming;
    }
  }

  async drivers(path) {
    await import(new URL(path, `${home}../`).href);
    return Object.keys(globalThis.tensorwebScripts);
  }

  snapshot() {
    this.memory = this.python.makeMemorySnapshot();
    return this.memory.byteLength;
  }

  /** Unpack a wheel of the site: what a snapshot needs instead of micropip. */
  async unpack(path) {
    const wheel = await (await fetch(new URL(path, `${home}../`))).arrayBuffer();
    this.python.unpackArchive(wheel, "wheel");
  }

  await(code) {
    return this.python.runPythonAsync(code);
  }

  plain(code) {
    return this.python.runPython(code);
  }

  callback(code) {
    const called = this.python.runPython(code);
    return new Promise((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(called());
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  async #start(options) {
    const { loadPyodide } = await import(`${home}pyodide.mjs`);
    this.python = await loadPyodide({ indexURL: home, packageBaseUrl: home, ...options });
    return this.python.version;
  }
}
