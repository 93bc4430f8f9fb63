// Pyodide of the built site with no files of our page; Python is entered in three ways.

import { restorePython, startPython } from "./python.js";

const home = new URL("./site/pyodide/", import.meta.url).href;

export class Bare {
  python = null;
  memory = null;

  /**
   * Do one thing and return what it gives as text.
   *
   * load, record, restore, resume: start Python; plainly, so that a snapshot can be made
   * of it, from the snapshot of before, or from the one that all tests share. drivers:
   * load the drivers' scripts, before devices are opened. snapshot: keep Python's
   * memory, return its bytes. handOut: return an address of the snapshot.
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
    return this.#begin(startPython(home));
  }

  record() {
    return this.#begin(startPython(home, { _makeSnapshot: true }));
  }

  restore() {
    return this.#begin(startPython(home, { _loadSnapshot: this.memory }));
  }

  resume() {
    return this.#begin(restorePython(home, new URL("./python.snapshot", import.meta.url)));
  }

  async drivers(path) {
    await import(new URL(path, `${home}../`).href);
    return Object.keys(globalThis.tensorwebScripts);
  }

  snapshot() {
    this.memory = this.python.makeMemorySnapshot();
    return this.memory.byteLength;
  }

  handOut() {
    return URL.createObjectURL(new Blob([this.memory]));
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

  async #begin(starting) {
    this.python = await starting;
    return this.python.version;
  }
}
