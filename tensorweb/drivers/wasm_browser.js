// Opens the WebAssembly device of a page and joins its parts into one object whose
// functions take and return numbers and strings. `wasm_browser.py` gets the values of
// this script and of those of the parts. It works in windows and workers and leaves no
// global behind.

/**
 * @typedef {Record<string, any>} Pyodide Pyodide's own module: its functions of C by
 *   their names with `_` in front, and the buffer that Stop is written to
 * @typedef {(pages: number, mostPages: number) => DeviceMemory} OpenMemory
 * @typedef {(memory: DeviceMemory, pyodide: Pyodide) => Modules} CreateModules
 * @typedef {(memory: DeviceMemory, script: string, asked: number) => Threads}
 *   CreateThreads `script` is what helpers run; how many threads are asked for, or 0
 * @typedef {(memory: DeviceMemory, modules: Modules, threads: Threads,
 *   pyodide: Pyodide) => Runs} CreateRuns
 */

(() => {
  "use strict";

  // Modules of one function each: a vector of zeros, and `f32x4.relaxed_madd` of three.
  const HEAD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0];
  const ZEROS = [65, 0, 253, 15];
  const SIMD = [...HEAD, 10, 8, 1, 6, 0, ...ZEROS, 11];
  const MADD = [...ZEROS, ...ZEROS, ...ZEROS, 253, 133, 2];
  const RELAXED = [...HEAD, 10, 19, 1, 17, 0, ...MADD, 11];

  /** @param {number[]} bytes */
  const isValid = (bytes) => WebAssembly.validate(new Uint8Array(bytes));

  /**
   * @param {OpenMemory} openMemory @param {CreateModules} createModules
   * @param {CreateThreads} createThreads @param {CreateRuns} createRuns
   */
  return function connect(openMemory, createModules, createThreads, createRuns) {
    /**
     * Opens a device; throws an Error for people where there cannot be one.
     * @param {Pyodide} pyodide @param {number} pages of the memory in the beginning
     * @param {number} mostPages @param {string} script of helper threads
     * @param {number} asked how many threads, or 0 for as many as are good
     */
    return function open(pyodide, pages, mostPages, script, asked) {
      if (!isValid(SIMD)) {
        throw new Error("this browser's WebAssembly has no vectors (128-bit SIMD)");
      }
      const memory = openMemory(pages, mostPages);
      const modules = createModules(memory, pyodide);
      const threads = createThreads(memory, script, asked);
      const runs = createRuns(memory, modules, threads, pyodide);
      return {
        isShared: memory.isShared,
        hasRelaxed: isValid(RELAXED),
        grow: memory.grow,
        write: memory.write,
        take: memory.take,
        createModule: modules.create,
        refusal: modules.refusal,
        /** @param {number} module whether helpers should know it */
        canShare: (module) => threads.count() > 1 && modules.isPure(module),
        shareModule: threads.share,
        threads: threads.count,
        helpersUp: threads.up,
        helped: threads.helped,
        stage: runs.stage,
        placeTapes: runs.placeTapes,
        writeStaged: runs.writeStaged,
        readStaged: runs.readStaged,
        submit: runs.submit,
        launchSeconds: runs.launchSeconds,
        dispatches: runs.dispatches,
        trap: runs.trap,
        close() {
          threads.close();
          runs.close();
          modules.close();
          memory.close();
        },
      };
    };
  };
})();
