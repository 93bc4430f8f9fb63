// The table of storage buffers of one device, by small integers that are used again.

/**
 * @typedef {{gpu: GPUBuffer, size: number, groups: Set<string>}} BufferRecord
 *   `groups` holds the keys of the cached bind groups that name the buffer
 * @typedef {{data: any, release(): void}} PythonView a view on Python's heap, valid
 *   until Python's memory grows
 * @typedef {{getBuffer(): PythonView, copy(): PythonProxy}} PythonBuffer has Python's
 *   buffer protocol
 * @typedef {PythonBuffer & {destroy(): void}} PythonProxy one that keeps its object
 *
 * @typedef {object} Buffers
 * @property {(size: number, usage: number, record?: object) => GPUBuffer} allocate
 * @property {(size: number) => number} create returns the new buffer's number
 * @property {(handle: number) => void} destroy
 * @property {(handle: number) => BufferRecord} of
 * @property {(handle: number, offset: number, source: PythonBuffer) => number} write
 *   0, or -1 when the device is lost
 * @property {() => Iterable<BufferRecord | undefined>} all
 * @property {number} fence a tiny buffer that a check reads
 */

(() => {
  "use strict";

  // Constants of WebGPU by value: Node has no such globals.
  const COPY_SRC = 0x0004;
  const COPY_DST = 0x0008;
  const STORAGE = 0x0080;
  // A scope costs 0.1–0.3 ms of GPU-process time, so only large allocations get one.
  const SCOPED_SIZE = 16 << 20;

  /**
   * @param {GPUDevice} device @param {Failures} failures
   * @param {Map<string, GPUBindGroup>} bindGroups
   * @param {Record<string, number>} counters @returns {Buffers}
   */
  return function createBuffers(device, failures, bindGroups, counters) {
    /** @type {(BufferRecord | undefined)[]} */
    const records = [];
    /** @type {number[]} */
    const freeHandles = [];

    /** @type {Buffers["allocate"]} */
    function allocate(size, usage, record) {
      if (size < SCOPED_SIZE) return device.createBuffer({ size, usage });
      device.pushErrorScope("out-of-memory");
      const gpu = device.createBuffer({ size, usage });
      failures.endScope((error) => {
        const text = error.message;
        failures.markBroken(record ?? gpu, { kind: "memory", text, size });
      });
      return gpu;
    }

    /** @type {Buffers["create"]} */
    function create(size) {
      const record = /** @type {BufferRecord} */ ({ size, groups: new Set() });
      record.gpu = allocate(size, STORAGE | COPY_SRC | COPY_DST, record);
      const handle = freeHandles.pop() ?? records.length;
      records[handle] = record;
      counters.buffers += 1;
      counters.bytes += size;
      counters.live_buffers += 1;
      counters.live_bytes += size;
      return handle;
    }

    /** @type {Buffers["of"]} */
    function of(handle) {
      const record = records[handle];
      if (!record) throw new Error(`internal: no buffer ${handle}`);
      return record;
    }

    failures.lostListeners.add(() => {
      for (const record of records) record?.gpu.destroy();
      records.length = 0;
    });
    const fence = records.length;
    records.push({
      gpu: device.createBuffer({ size: 4, usage: COPY_SRC }),
      size: 4,
      groups: new Set(),
    });

    return {
      allocate,
      create,
      of,
      fence,
      all: () => records,
      destroy(handle) {
        if (failures.isLost()) return;
        const record = of(handle);
        for (const key of record.groups) bindGroups.delete(key);
        record.gpu.destroy();
        failures.forget(record);
        records[handle] = undefined;
        freeHandles.push(handle);
        counters.live_buffers -= 1;
        counters.live_bytes -= record.size;
      },
      write(handle, offset, source) {
        if (failures.isLost()) return -1;
        const view = source.getBuffer();
        try {
          const { buffer, byteOffset, byteLength } = view.data;
          const target = of(handle).gpu;
          device.queue.writeBuffer(target, offset, buffer, byteOffset, byteLength);
        } finally {
          view.release();
        }
        return 0;
      },
    };
  };
})();
