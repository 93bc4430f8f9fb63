// The replay of command tapes on one WebAssembly device: the work is done when it
// returns. The layout of a tape is described in `docs/contributing/architecture.md`.

/**
 * @typedef {object} Runs
 * @property {(staging: PythonBuffer) => void} stage what Python passes, or takes
 * @property {(address: number) => void} placeTapes where tapes go in the device's memory
 * @property {(address: number, size: number) => void} writeStaged `size` staged bytes
 * @property {(address: number, size: number) => void} readStaged `size` bytes
 * @property {(length: number, isTimed?: boolean) => number} submit of `length` staged
 *   words: 0, or 1 when Stop was pressed, or 2 when a kernel trapped
 * @property {() => string} launchSeconds of the last timed tape, a list in JSON
 * @property {() => number} dispatches how many launches began since the device is open
 * @property {() => string} trap `[pipeline, reason]` of the last one, in JSON
 * @property {() => void} close
 */

(() => {
  "use strict";

  // `tensorweb/drivers/protocol.py` has the same numbers.
  const DISPATCH = 1;
  const COPY = 2;
  const CLEAR = 3;

  const DONE = 0;
  const STOPPED = 1;
  const TRAPPED = 2;
  const INTERRUPT = 2; // what Pyodide calls SIGINT

  /** @type {CreateRuns} */
  return function createRuns(memory, modules, threads, pyodide) {
    /** @type {{source: PythonProxy, view: PythonView} | undefined} */
    let staged;
    let tapeAddress = 0;
    /** @type {number[]} */
    let seconds = [];
    let trap = "";
    let dispatches = 0;

    function unstage() {
      staged?.view.release();
      staged?.source.destroy();
      staged = undefined;
    }

    /**
     * Returns Python's staging memory, looked up anew after its heap has grown, which
     * leaves old views empty.
     * @returns {Uint8Array<ArrayBuffer>}
     */
    function stagedBytes() {
      if (!staged) throw new Error("internal: no staging memory");
      if (!staged.view.data.length) {
        staged.view.release();
        staged.view = staged.source.getBuffer();
      }
      return staged.view.data;
    }

    /** Whether Stop was pressed; then it is no more. */
    function isStopped() {
      const signal = pyodide.Py_EmscriptenSignalBuffer;
      if (!signal || signal[0] !== INTERRUPT) return false;
      signal[0] = 0;
      return true;
    }

    /**
     * Runs the units of a launch, a slice at a time or on all threads; returns whether
     * Stop ended it.
     * @param {Launch} launch
     */
    function perform(launch) {
      const run = modules.runOf(launch.pipeline);
      if (threads.isWorth(launch)) return threads.spread(launch, run, isStopped);
      const { parameters, buffers, units, slice } = launch;
      for (let first = 0; first < units; first += slice) {
        if (isStopped()) return true;
        run(parameters, buffers, first, Math.min(first + slice, units));
      }
      return false;
    }

    /**
     * Copies or clears bytes; returns the command's length in words.
     * @param {Int32Array} tape @param {number} at
     */
    function transfer(tape, at) {
      const first = (tape[at + 1] >>> 0) + tape[at + 2];
      if (tape[at] === COPY) {
        const target = (tape[at + 3] >>> 0) + tape[at + 4];
        memory.bytes.copyWithin(target, first, first + tape[at + 5]);
        return 6;
      }
      if (tape[at] !== CLEAR) throw new Error(`internal: tape command ${tape[at]}`);
      memory.bytes.fill(0, first, first + tape[at + 3]);
      return 4;
    }

    /**
     * @param {Int32Array} tape @param {boolean} isTimed
     * @returns {number} a status
     */
    function replay(tape, isTimed) {
      let at = 1 + tape[0];
      while (at < tape.length) {
        if (tape[at] !== DISPATCH) {
          at += transfer(tape, at);
          continue;
        }
        dispatches += 1;
        const launch = {
          pipeline: tape[at + 1],
          parameters: tapeAddress + 4 + tape[at + 5],
          buffers: tapeAddress + 4 * (at + 7),
          units: tape[at + 2],
          slice: tape[at + 3],
          isInOrder: tape[at + 4] === 0,
        };
        const begin = isTimed ? performance.now() : 0;
        try {
          if (perform(launch)) return STOPPED;
        } catch (error) {
          if (!(error instanceof WebAssembly.RuntimeError)) throw error;
          trap = JSON.stringify([launch.pipeline, error.message]);
          return TRAPPED;
        }
        if (isTimed) seconds.push((performance.now() - begin) * 1e-3);
        at += 7 + tape[at + 6];
      }
      return DONE;
    }

    return {
      stage(staging) {
        unstage();
        const source = staging.copy();
        staged = { source, view: source.getBuffer() };
      },
      placeTapes: (address) => void (tapeAddress = address >>> 0),
      writeStaged(address, size) {
        memory.bytes.set(stagedBytes().subarray(0, size), address >>> 0);
      },
      readStaged(address, size) {
        const start = address >>> 0;
        stagedBytes().set(memory.bytes.subarray(start, start + size));
      },
      submit(length, isTimed = false) {
        const bytes = stagedBytes();
        memory.bytes.set(bytes.subarray(0, 4 * length), tapeAddress);
        seconds = [];
        // The copy that Python cannot move.
        return replay(memory.words.subarray(tapeAddress / 4, tapeAddress / 4 + length), isTimed);
      },
      launchSeconds: () => JSON.stringify(seconds),
      dispatches: () => dispatches,
      trap: () => trap,
      close: unstage,
    };
  };
})();
