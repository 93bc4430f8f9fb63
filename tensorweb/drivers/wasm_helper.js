// What a helper thread of the WebAssembly device runs: it waits for launches, and takes
// units of them until none is left. `wasm_threads.js` starts it in a worker of its own
// and documents what the control words in the shared memory mean.

(() => {
  "use strict";

  /** @param {WebAssembly.Memory} memory @param {ControlWords} at */
  function serve(memory, at) {
    const words = new Int32Array(memory.buffer, 0, at.count);
    /** @type {Map<number, Run>} */
    const runs = new Map();

    /** @param {Int32Array} launch */
    function compiled(launch) {
      const pipeline = launch[at.pipeline];
      let run = runs.get(pipeline);
      if (!run) {
        const source = launch[at.source] >>> 0;
        const bytes = new Uint8Array(memory.buffer, source, launch[at.sourceBytes]);
        const module = new WebAssembly.Module(bytes.slice()); // shared ones are refused
        const { exports } = new WebAssembly.Instance(module, { m: { memory } });
        run = /** @type {Run} */ (exports.run);
        if (runs.size >= at.compiled) runs.clear();
        runs.set(pipeline, run);
      }
      return run;
    }

    /** Tells the first failure in a launch and ends it. @param {unknown} error */
    function fail(error) {
      if (Atomics.compareExchange(words, at.failure, 0, -1) === 0) {
        const text = new TextEncoder().encode(String(/** @type {any} */ (error).message));
        const said = text.subarray(0, at.textBytes);
        new Uint8Array(memory.buffer, at.text).set(said);
        Atomics.store(words, at.failure, 1 + said.length);
      }
      Atomics.store(words, at.next, words[at.units]);
    }

    /** Takes part in the launch of a generation. @param {number} generation */
    function help(generation) {
      const launch = words.slice();
      const isCurrent = () => Atomics.load(words, at.generation) === generation;
      // Engines notify threads one after another that a memory has grown.
      if (!isCurrent() || memory.buffer.byteLength < launch[at.pages] * at.pageBytes) {
        return;
      }
      const run = compiled(launch);
      const [units, chunk] = [launch[at.units], launch[at.chunk]];
      const [parameters, buffers] = [launch[at.parameters], launch[at.buffers]];
      // A launch ends when nobody is busy with it; who comes later finds it over.
      Atomics.add(words, at.busy, 1);
      try {
        while (isCurrent()) {
          const first = Atomics.add(words, at.next, chunk);
          if (first >= units) break;
          run(parameters, buffers, first, Math.min(first + chunk, units));
          Atomics.add(words, at.helped, 1);
        }
      } catch (error) {
        fail(error);
      } finally {
        if (Atomics.sub(words, at.busy, 1) === 1) Atomics.notify(words, at.busy);
      }
    }

    Atomics.add(words, at.up, 1);
    try {
      for (;;) {
        const generation = Atomics.load(words, at.generation);
        if (generation & 1) help(generation);
        const end = performance.now() + at.spinMilliseconds;
        while (Atomics.load(words, at.generation) === generation) {
          if (performance.now() < end) continue;
          Atomics.wait(words, at.generation, generation);
        }
      }
    } finally {
      Atomics.sub(words, at.up, 1);
    }
  }

  addEventListener("message", ({ data: { memory, at } }) => serve(memory, at));
})();
