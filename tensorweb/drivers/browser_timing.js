// Timestamps that the GPU writes around the launches of one tape, for those who ask how
// long they took. Each launch is then a pass of its own. Browsers round timestamps.

/**
 * @typedef {object} Timing
 * @property {() => void} begin the next tape
 * @property {() => GPUComputePassTimestampWrites} nextPass
 * @property {(encoder: GPUCommandEncoder) => void} resolve after the last pass
 * @property {() => Promise<string>} seconds of each pass, a list in JSON; `null` when
 *   the device was lost meanwhile
 */

(() => {
  "use strict";

  const MOST = 4096; // timestamps of one set, WebGPU's limit
  const BYTES = 8;
  const MAP_READ = 0x0001;
  const COPY_SRC = 0x0004;
  const COPY_DST = 0x0008;
  const QUERY_RESOLVE = 0x0200;
  const READ_MODE = 0x0001;

  /** @param {GPUDevice} device @returns {Timing} */
  return function createTiming(device) {
    /** @type {{querySet: GPUQuerySet, resolved: GPUBuffer} | undefined} */
    let made;
    /** @type {GPUBuffer | undefined} */
    let staging;
    let used = 0;

    function parts() {
      made ??= {
        querySet: device.createQuerySet({ type: "timestamp", count: MOST }),
        resolved: device.createBuffer({
          size: MOST * BYTES,
          usage: QUERY_RESOLVE | COPY_SRC,
        }),
      };
      return made;
    }

    return {
      begin() {
        used = 0;
        staging = undefined;
      },
      nextPass() {
        used += 2;
        return {
          querySet: parts().querySet,
          beginningOfPassWriteIndex: used - 2,
          endOfPassWriteIndex: used - 1,
        };
      },
      resolve(encoder) {
        if (!used) return;
        const { querySet, resolved } = parts();
        const size = used * BYTES;
        staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
        encoder.resolveQuerySet(querySet, 0, used, resolved, 0);
        encoder.copyBufferToBuffer(resolved, 0, staging, 0, size);
      },
      async seconds() {
        const buffer = staging;
        if (!buffer) return "[]";
        try {
          await buffer.mapAsync(READ_MODE);
        } catch {
          return "null"; // the next read reports why
        }
        const ticks = new BigUint64Array(buffer.getMappedRange());
        const found = [];
        for (let i = 0; i < ticks.length; i += 2) {
          const nanoseconds = Number(ticks[i + 1]) - Number(ticks[i]);
          found.push(Math.max(nanoseconds, 0) * 1e-9);
        }
        buffer.destroy();
        return JSON.stringify(found);
      },
    };
  };
})();
