// Pipelines, bind groups and the replay of command tapes on one device. The layout of a
// tape is told in `docs/architecture.md`.

/**
 * @typedef {{gpu: GPUComputePipeline, access: string}} PipelineRecord
 *
 * @typedef {object} Tapes
 * @property {(source: string, access: string, label: string) => number} createPipeline
 *   returns the pipeline's number at once; a compiler error comes with the next read
 * @property {(tape: PythonBuffer) => number} submit 0, or -1 when the device is lost
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
  const COMPUTE_STAGE = 0x4;
  const GROUPS_KEPT = 4096;

  /**
   * @param {GPUDevice} device @param {Failures} failures @param {Buffers} buffers
   * @param {Map<string, GPUBindGroup>} bindGroups
   * @param {Record<string, number>} counters @returns {Tapes}
   */
  return function createTapes(device, failures, buffers, bindGroups, counters) {
    /** @type {PipelineRecord[]} */
    const pipelines = [];
    /** @type {Map<string, {group: GPUBindGroupLayout, pipeline: GPUPipelineLayout}>} */
    const layouts = new Map();
    const parameters = device.createBuffer({
      size: PARAMETER_SLOTS * PARAMETER_BYTES,
      usage: UNIFORM | COPY_DST,
    });

    /** @param {string} access r or w per storage binding */
    function layoutOf(access) {
      const known = layouts.get(access);
      if (known) return known;
      /** @type {GPUBindGroupLayoutEntry[]} */
      const entries = Array.from(access, (letter, binding) => ({
        binding,
        visibility: COMPUTE_STAGE,
        buffer: { type: letter === "r" ? "read-only-storage" : "storage" },
      }));
      const minBindingSize = PARAMETER_BYTES;
      entries.push({
        binding: access.length,
        visibility: COMPUTE_STAGE,
        buffer: { type: "uniform", hasDynamicOffset: true, minBindingSize },
      });
      const group = device.createBindGroupLayout({ entries });
      const pipeline = device.createPipelineLayout({ bindGroupLayouts: [group] });
      const layout = { group, pipeline };
      layouts.set(access, layout);
      return layout;
    }

    /** @type {Tapes["createPipeline"]} */
    function createPipeline(source, access, label) {
      device.pushErrorScope("internal");
      device.pushErrorScope("validation");
      const module = device.createShaderModule({ label, code: source });
      const gpu = device.createComputePipeline({
        label,
        layout: layoutOf(access).pipeline,
        compute: { module, entryPoint: "main" },
      });
      const record = { gpu, access };
      /** @param {GPUError} error */
      const report = async (error) => {
        const info = await module.getCompilationInfo();
        const messages = info.messages
          .filter((message) => message.type === "error")
          .map(({ message, lineNum, linePos }) => ({
            text: message,
            line: lineNum,
            column: linePos,
          }));
        const text = error.message;
        if (!messages.length) messages.push({ text, line: 0, column: 0 });
        failures.markBroken(record, { kind: "shader", text, label, source, messages });
      };
      failures.endScope(report);
      failures.endScope(report);
      counters.pipelines += 1;
      return pipelines.push(record) - 1;
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
      const group = device.createBindGroup({ layout: layoutOf(access).group, entries });
      bindGroups.set(key, group);
      counters.bind_groups += 1;
      return group;
    }

    /** @param {Int32Array} tape @param {number} at position of the first command */
    function encode(tape, at) {
      const encoder = device.createCommandEncoder();
      const end = tape.length;
      /** @type {GPUComputePassEncoder | undefined} */
      let pass;
      let current = -1;
      let access = "";
      while (at < end) {
        if (tape[at] !== DISPATCH) {
          pass?.end();
          pass = undefined;
          at += encodeTransfer(encoder, tape, at);
          continue;
        }
        if (!pass) {
          pass = encoder.beginComputePass();
          current = -1;
        }
        if (tape[at + 1] !== current) {
          current = tape[at + 1];
          access = pipelines[current].access;
          pass.setPipeline(pipelines[current].gpu);
        }
        const count = tape[at + 6];
        if (failures.anyBroken()) recallUsed(pipelines[current], tape, at + 7, count);
        pass.setBindGroup(0, bindGroupOf(access, tape, at + 7, count), [tape[at + 5]]);
        pass.dispatchWorkgroups(tape[at + 2], tape[at + 3], tape[at + 4]);
        counters.dispatches += 1;
        at += 7 + count;
      }
      pass?.end();
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

    return {
      createPipeline,
      submit(source) {
        if (failures.isLost()) return -1;
        const view = source.getBuffer();
        try {
          /** @type {Int32Array<ArrayBuffer>} */
          const tape = view.data;
          const words = tape[0];
          if (words) device.queue.writeBuffer(parameters, 0, tape, 1, words);
          device.queue.submit([encode(tape, 1 + words)]);
        } finally {
          view.release();
        }
        counters.submits += 1;
        return 0;
      },
    };
  };
})();
