// Bind groups and the replay of command tapes on one device. The layout of a tape is
// described in `docs/contributing/architecture.md`.

/**
 * @typedef {object} Tapes
 * @property {(staging: PythonBuffer) => void} stage where tapes will be written
 * @property {(length: number, timed?: boolean) => number} submit of `length` staged words:
 *   0, or -1 when the device is lost
 */

(() => {
  "use strict";

  // `tensorweb/drivers/protocol.py` has the same numbers.
  const DISPATCH = 1;
  const COPY = 2;
  const CLEAR = 3;
  const PARAMETER_BYTES = 256;
  const PARAMETER_SLOTS = 1024;

  const COPY_DST = 0x0008;
  const UNIFORM = 0x0040;
  const GROUPS_KEPT = 4096;

  /**
   * @param {GPUDevice} device @param {Failures} failures @param {Buffers} buffers
   * @param {Pipelines} pipelines @param {Timing} timing
   * @param {Map<string, GPUBindGroup>} bindGroups
   * @param {Record<string, number>} counters @returns {Tapes}
   */
  return function createTapes(
    device,
    failures,
    buffers,
    pipelines,
    timing,
    bindGroups,
    counters,
  ) {
    /** @type {{source: PythonProxy, view: PythonView} | undefined} */
    let staged;
    const parameters = device.createBuffer({
      size: PARAMETER_SLOTS * PARAMETER_BYTES,
      usage: UNIFORM | COPY_DST,
    });
    // What the buffer holds: a tape that is replayed writes the same words again.
    const held = new Int32Array((PARAMETER_SLOTS * PARAMETER_BYTES) / 4);

    /**
     * Writes the parameters of a tape unless the buffer holds them.
     * @param {Int32Array<ArrayBuffer>} tape @param {number} words
     */
    function writeParameters(tape, words) {
      let at = 0;
      while (at < words && held[at] === tape[at + 1]) at++;
      if (at === words) return;
      device.queue.writeBuffer(parameters, 0, tape, 1, words);
      held.set(tape.subarray(1, 1 + words));
    }

    /**
     * Returns the bind group of the `count` buffers named in the tape from `at` on.
     * @param {string} access @param {Int32Array} tape @param {number} at
     * @param {number} count
     */
    function bindGroupOf(access, tape, at, count) {
      let key = access;
      for (let i = at; i < at + count; i++) key += "," + tape[i];
      return bindGroups.get(key) ?? createBindGroup(key, access, tape, at, count);
    }

    /**
     * @param {string} key @param {string} access @param {Int32Array} tape
     * @param {number} at @param {number} count
     */
    function createBindGroup(key, access, tape, at, count) {
      if (bindGroups.size >= GROUPS_KEPT) {
        bindGroups.clear();
        for (const record of buffers.all()) record?.groups.clear();
      }
      /** @type {GPUBindGroupEntry[]} */
      const entries = [];
      for (let i = 0; i < count; i++) {
        const record = buffers.of(tape[at + i]);
        entries.push({ binding: i, resource: { buffer: record.gpu } });
        record.groups.add(key);
      }
      const resource = { buffer: parameters, size: PARAMETER_BYTES };
      entries.push({ binding: count, resource });
      const layout = pipelines.groupLayout(access);
      const group = device.createBindGroup({ layout, entries });
      bindGroups.set(key, group);
      counters.bind_groups += 1;
      return group;
    }

    /**
     * @param {Int32Array} tape @param {number} at position of the first command
     * @param {boolean} timed whether each launch is a pass with timestamps
     */
    function encode(tape, at, timed) {
      const encoder = device.createCommandEncoder();
      const end = tape.length;
      /** @type {GPUComputePassEncoder | undefined} */
      let pass;
      let current = -1;
      let pipeline = pipelines.of(0);
      while (at < end) {
        if (tape[at] !== DISPATCH) {
          pass?.end();
          pass = undefined;
          at += encodeTransfer(encoder, tape, at);
          continue;
        }
        if (!pass || timed) {
          pass?.end();
          pass = encoder.beginComputePass(
            timed ? { timestampWrites: timing.nextPass() } : undefined,
          );
          current = -1;
        }
        if (tape[at + 1] !== current) {
          current = tape[at + 1];
          pipeline = pipelines.of(current);
          pass.setPipeline(pipelines.ready(pipeline));
        }
        const count = tape[at + 6];
        if (failures.anyBroken()) recallUsed(pipeline, tape, at + 7, count);
        const group = bindGroupOf(pipeline.access, tape, at + 7, count);
        pass.setBindGroup(0, group, [tape[at + 5]]);
        pass.dispatchWorkgroups(tape[at + 2], tape[at + 3], tape[at + 4]);
        counters.dispatches += 1;
        at += 7 + count;
      }
      pass?.end();
      if (timed) timing.resolve(encoder);
      return encoder.finish();
    }

    /**
     * @param {PipelineRecord} pipeline @param {Int32Array} tape @param {number} at
     * @param {number} count
     */
    function recallUsed(pipeline, tape, at, count) {
      failures.recall(pipeline);
      for (let i = at; i < at + count; i++) failures.recall(buffers.of(tape[i]));
    }

    /**
     * Encodes a copy or a clear and returns its length in words.
     * @param {GPUCommandEncoder} encoder @param {Int32Array} tape @param {number} at
     */
    function encodeTransfer(encoder, tape, at) {
      const record = buffers.of(tape[at + 1]);
      failures.recall(record);
      if (tape[at] === COPY) {
        const target = buffers.of(tape[at + 3]).gpu;
        const [from, to, size] = [tape[at + 2], tape[at + 4], tape[at + 5]];
        encoder.copyBufferToBuffer(record.gpu, from, target, to, size);
        return 6;
      }
      if (tape[at] !== CLEAR) throw new Error(`internal: tape command ${tape[at]}`);
      encoder.clearBuffer(record.gpu, tape[at + 2], tape[at + 3]);
      return 4;
    }

    function unstage() {
      staged?.view.release();
      staged?.source.destroy();
      staged = undefined;
    }

    failures.lostListeners.add(unstage);

    /**
     * Returns Python's staging memory, looked up anew after its heap has grown, which
     * leaves old views empty.
     * @returns {Int32Array<ArrayBuffer>}
     */
    function stagedWords() {
      if (!staged) throw new Error("internal: no staging memory");
      if (!staged.view.data.length) {
        staged.view.release();
        staged.view = staged.source.getBuffer();
      }
      return staged.view.data;
    }

    return {
      stage(staging) {
        unstage();
        const source = staging.copy(); // lives until the next one
        staged = { source, view: source.getBuffer() };
      },
      submit(length, timed = false) {
        if (failures.isLost()) return -1;
        const tape = stagedWords().subarray(0, length);
        const words = tape[0];
        writeParameters(tape, words);
        if (timed) timing.begin();
        device.queue.submit([encode(tape, 1 + words, timed)]);
        counters.submits += 1;
        return 0;
      },
    };
  };
})();
