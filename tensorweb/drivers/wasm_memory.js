// The memory of one WebAssembly device, and how Python's bytes get in and out. It is
// shared where the page is isolated, so that helper threads can work on it.

/**
 * @typedef {object} DeviceMemory
 * @property {boolean} isShared
 * @property {WebAssembly.Memory} wasm
 * @property {Uint8Array} bytes the whole memory, until it grows
 * @property {Int32Array} words the same
 * @property {(pages: number) => boolean} grow by `pages` pages; whether it could
 * @property {(address: number, source: PythonBuffer) => void} write all of its bytes
 * @property {(address: number, target: PythonBuffer) => void} take as many bytes
 * @property {() => void} close
 */

(() => {
  "use strict";

  /** @param {PythonView} view @returns {Uint8Array<ArrayBuffer>} */
  function bytesOf({ data }) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }

  /**
   * Makes the memory; a host that cannot reserve addresses for all of it reserves less.
   * @param {number} pages @param {number} mostPages
   */
  function create(pages, mostPages) {
    const shared = globalThis.crossOriginIsolated === true;
    for (let maximum = mostPages; shared && maximum > pages; maximum >>>= 1) {
      try {
        return new WebAssembly.Memory({ initial: pages, maximum, shared });
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }
    return new WebAssembly.Memory({ initial: pages });
  }

  /** @type {OpenMemory} */
  return function openMemory(pages, mostPages) {
    const wasm = create(pages, mostPages);
    const none = new ArrayBuffer(0);
    const memory = {
      isShared: !(wasm.buffer instanceof ArrayBuffer),
      wasm,
      bytes: new Uint8Array(wasm.buffer),
      words: new Int32Array(wasm.buffer),

      /** @param {number} more */
      grow(more) {
        try {
          wasm.grow(more);
        } catch (error) {
          if (error instanceof RangeError) return false;
          throw error;
        }
        memory.bytes = new Uint8Array(wasm.buffer);
        memory.words = new Int32Array(wasm.buffer);
        return true;
      },
      /** @param {number} address @param {PythonBuffer} source */
      write(address, source) {
        const view = source.getBuffer();
        try {
          memory.bytes.set(bytesOf(view), address >>> 0);
        } finally {
          view.release();
        }
      },
      /** @param {number} address @param {PythonBuffer} target */
      take(address, target) {
        const view = target.getBuffer();
        try {
          const bytes = bytesOf(view);
          const start = address >>> 0;
          bytes.set(memory.bytes.subarray(start, start + bytes.length));
        } finally {
          view.release();
        }
      },
      close() {
        memory.bytes = new Uint8Array(none);
        memory.words = new Int32Array(none);
      },
    };
    return memory;
  };
})();
