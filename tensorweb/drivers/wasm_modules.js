// Compiled modules of one WebAssembly device, by number. Functions of the C library come
// from Pyodide's own: its exported functions, so that calls stay within WebAssembly. Of
// many modules the compiled code is dropped, and recompiled from their bytes on demand.

/**
 * @typedef {(parameters: number, buffers: number, first: number, last: number) => void}
 *   Run does the units from `first` to `last` - 1
 *
 * @typedef {object} Modules
 * @property {(source: PythonBuffer) => number} create returns the module's number, or
 *   -1 when the engine refuses it
 * @property {() => string} refusal why the last one was refused
 * @property {(module: number) => boolean} isPure whether it imports the memory alone, so
 *   that other threads can run it
 * @property {(module: number) => Run} runOf
 * @property {() => void} close
 */

(() => {
  "use strict";

  const MOST_COMPILED = 1024;

  /** @type {CreateModules} */
  return function createModules(memory, pyodide) {
    /** @type {Uint8Array<ArrayBuffer>[]} */
    const sources = [];
    /** @type {Map<number, Run>} */
    const compiled = new Map();
    /** @type {Record<string, WebAssembly.ImportValue>} */
    const imports = { memory: memory.wasm };
    /** @type {Set<number>} */
    const pure = new Set();
    let refusal = "";

    /** @param {number} number of a module whose bytes are there */
    function compile(number) {
      const module = new WebAssembly.Module(sources[number]);
      const required = WebAssembly.Module.imports(module);
      for (const { name } of required) {
        if (imports[name]) continue;
        const found = pyodide[`_${name}`];
        if (!found) throw new Error(`the C library has no function '${name}'`);
        imports[name] = found;
      }
      const { exports } = new WebAssembly.Instance(module, { m: imports });
      if (!exports.run) throw new Error("it exports no `run`");
      if (required.length === 1) pure.add(number);
      if (compiled.size >= MOST_COMPILED) compiled.clear();
      const run = /** @type {Run} */ (exports.run);
      compiled.set(number, run);
      return run;
    }

    return {
      create(source) {
        const view = source.getBuffer();
        sources.push(view.data.slice());
        view.release();
        try {
          compile(sources.length - 1);
        } catch (error) {
          sources.pop();
          refusal = String(/** @type {any} */ (error).message);
          return -1;
        }
        return sources.length - 1;
      },
      refusal: () => refusal,
      isPure: (module) => pure.has(module),
      runOf: (module) => compiled.get(module) ?? compile(module),
      close() {
        sources.length = 0;
        compiled.clear();
      },
    };
  };
})();
