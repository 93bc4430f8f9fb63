// Helper threads of one WebAssembly device: workers that share its memory and take units
// of large launches, as the calling thread does. They are there where the page is
// isolated and Python is in a worker, since windows may not wait. Browsers start workers
// when the caller goes back to its event loop, so the first results never wait for them;
// until they are up there is one thread. A helper takes 2 MB (Chromium 156).
//
// A launch is open while the word `generation` is odd. Each thread takes units by adding
// to `next`; `busy` counts the helpers that are at work on it.

/**
 * @typedef {Record<string, number>} ControlWords see `CONTROL`
 *
 * @typedef {object} Launch
 * @property {number} pipeline @property {number} parameters @property {number} buffers
 * @property {number} units @property {number} slice how many units are one slice
 * @property {boolean} isInOrder whether one thread does the units in their order
 *
 * @typedef {object} Threads
 * @property {() => number} count how many threads compute, or will when all are up
 * @property {() => number} up how many helpers are there
 * @property {() => number} helped how many parts of launches they have done
 * @property {(pipeline: number, address: number, size: number) => void} share a module
 *   that helpers can run: where its bytes are
 * @property {(launch: Launch) => boolean} isWorth whether helpers are there and should
 *   join
 * @property {(launch: Launch, run: Run, isStopped: () => boolean) => boolean} spread
 *   a launch over all threads; returns whether Stop ended it
 * @property {() => void} close
 */

(() => {
  "use strict";

  // Pages end what a program asked of these; what the driver asks goes on.
  const { clearTimeout, setTimeout, Worker } = globalThis;

  // Words at the bottom of the memory; each that threads contend for has a cache line.
  const CONTROL = {
    generation: 0,
    next: 16,
    busy: 32,
    up: 48,
    failure: 49, // 0; or -1, then 1 + bytes of the text that says what went wrong
    pages: 50, // of the whole memory
    pipeline: 51,
    source: 52, // address of the module
    sourceBytes: 53,
    parameters: 54,
    buffers: 55,
    units: 56,
    chunk: 57,
    helped: 58, // how many chunks helpers have done
    count: 64,
    // Not words but what else helpers must know.
    text: 1024, // address of the failure's text
    textBytes: 1024,
    pageBytes: 1 << 16,
    spinMilliseconds: 0.05,
    compiled: 1024, // modules that a helper keeps ready at most
  };

  // A slice takes a few milliseconds at most. A launch of a sixteenth of that is worth
  // waking helpers, which takes 5 to 50 µs.
  const WORTH = 16;
  const CHUNKS = 8; // that each thread takes of a launch, so that all end together
  const MOST_THREADS = 8;
  const MOST_UNITS = 1 << 30; // `next` goes beyond by a chunk for each thread

  /** @param {DeviceMemory} memory @param {number} asked or 0 @returns {number} */
  function threadsFor(memory, asked) {
    const inWorker = "WorkerGlobalScope" in globalThis && typeof Worker === "function";
    if (!memory.isShared || !inWorker) return 1;
    return asked || Math.min(navigator.hardwareConcurrency || 1, MOST_THREADS);
  }

  /** @type {CreateThreads} */
  return function createThreads(memory, script, asked) {
    const words = new Int32Array(memory.wasm.buffer, 0, CONTROL.count);
    let helperCount = threadsFor(memory, asked) - 1;
    /** @type {Set<Worker>} */
    const helpers = new Set();
    let address = "";
    /** @type {Map<number, {address: number, size: number}>} */
    const sources = new Map();

    const up = () => Atomics.load(words, CONTROL.up);

    /** @param {Worker} helper */
    function drop(helper) {
      helper.terminate();
      if (helpers.delete(helper)) helperCount -= 1;
    }

    function start() {
      address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
      try {
        while (helpers.size < helperCount) {
          const helper = new Worker(address, { name: "tensorweb helper" });
          helpers.add(helper);
          helper.onerror = (event) => {
            event.preventDefault(); // the page may not let it start; there is one less
            drop(helper);
          };
          helper.postMessage({ memory: memory.wasm, at: CONTROL });
        }
      } catch {
        helperCount = helpers.size; // the policy of the page allows no workers
      }
    }

    /** Waits until no helper is at work on the launch that has ended. */
    function settle() {
      const end = performance.now() + CONTROL.spinMilliseconds;
      for (;;) {
        const busy = Atomics.load(words, CONTROL.busy);
        if (busy === 0) return;
        if (performance.now() > end) Atomics.wait(words, CONTROL.busy, busy);
      }
    }

    /** @param {Launch} launch @param {{address: number, size: number}} source */
    function publish({ pipeline, parameters, buffers, units, slice }, source) {
      const even = Math.ceil(units / (CHUNKS * (1 + helpers.size)));
      const chunk = Math.min(slice, even);
      words[CONTROL.pages] = memory.bytes.length / CONTROL.pageBytes;
      words[CONTROL.pipeline] = pipeline;
      words[CONTROL.source] = source.address;
      words[CONTROL.sourceBytes] = source.size;
      words[CONTROL.parameters] = parameters;
      words[CONTROL.buffers] = buffers;
      words[CONTROL.units] = units;
      words[CONTROL.chunk] = chunk;
      words[CONTROL.failure] = 0;
      Atomics.store(words, CONTROL.next, 0);
      Atomics.add(words, CONTROL.generation, 1);
      Atomics.notify(words, CONTROL.generation);
      return chunk;
    }

    const timer = helperCount ? setTimeout(start) : undefined;

    return {
      count: () => 1 + helperCount,
      up,
      // Without helpers the memory is not shared, and growing it detaches `words`.
      helped: () => (memory.isShared ? Atomics.load(words, CONTROL.helped) : 0),
      share(pipeline, address, size) {
        sources.set(pipeline, { address, size });
      },
      isWorth({ pipeline, units, slice, isInOrder }) {
        if (!helperCount || isInOrder || units < 2 || units * WORTH <= slice) return false;
        if (units > MOST_UNITS || !sources.has(pipeline)) return false;
        return up() > 0;
      },
      spread(launch, run, isStopped) {
        const source = sources.get(launch.pipeline);
        if (!source) throw new Error(`internal: module ${launch.pipeline} is not shared`);
        const { parameters, buffers, units } = launch;
        const chunk = publish(launch, source);
        let isEnded = false;
        try {
          while (!isEnded) {
            const first = Atomics.add(words, CONTROL.next, chunk);
            if (first >= units) break;
            isEnded = isStopped();
            if (!isEnded) run(parameters, buffers, first, Math.min(first + chunk, units));
          }
        } finally {
          Atomics.store(words, CONTROL.next, units);
          Atomics.add(words, CONTROL.generation, 1);
          settle();
        }
        const failure = words[CONTROL.failure];
        if (failure > 0) {
          const said = memory.bytes.slice(CONTROL.text, CONTROL.text + failure - 1);
          throw new WebAssembly.RuntimeError(new TextDecoder().decode(said));
        }
        return isEnded;
      },
      close() {
        clearTimeout(timer);
        helperCount = 0;
        for (const helper of helpers) helper.terminate();
        helpers.clear();
        if (address) URL.revokeObjectURL(address);
      },
    };
  };
})();
