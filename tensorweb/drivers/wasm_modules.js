// Compiled modules of one WebAssembly device, by number. Functions of the C library come
// from Pyodide's own: its exported functions, so that calls stay within WebAssembly.

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
 * @property {Run[]} runs
 * @property {() => void} close
 */

(() => {
  "use strict";

  /** @type {CreateModules} */
  return function createModules(memory, pyodide) {
    /** @type {Run[]} */
    const runs = [];
    /** @type {Record<string, WebAssembly.ImportValue>} */
    const imports = { memory: memory.wasm };
    /** @type {Set<number>} */
    const pure = new Set();
    let refusal = "";

    /** @param {WebAssembly.Module} module */
    function link(module) {
      const wanted = WebAssembly.Module.imports(module);
      for (const { name } of wanted) {
        if (imports[name]) continue;
        const found = pyodide[`_${name}`];
        if (!found) throw new Error(`the C library has no function '${name}'`);
        imports[name] = found;
      }
      const { exports } = new WebAssembly.Instance(module, { m: imports });
      if (!exports.run) throw new Error("it exports no `run`");
      if (wanted.length === 1) pure.add(runs.length);
      runs.push(/** @type {Run} */ (exports.run));
    }

    return {
      create(source) {
        const view = source.getBuffer();
        try {
          link(new WebAssembly.Module(view.data));
        } catch (error) {
          refusal = String(/** @type {any} */ (error).message);
          return -1;
        } finally {
          view.release();
        }
        return runs.length - 1;
      },
      refusal: () => refusal,
      isPure: (module) => pure.has(module),
      runs,
      close: () => void (runs.length = 0),
    };
  };
})();
