// Pipelines of one device: compiled at once, or in the background until they are used.

/**
 * @typedef {{gpu: GPUComputePipeline | null, access: string, source: string,
 *   label: string, compiled?: Promise<void>}} PipelineRecord
 *   `gpu` is null while it compiles in the background
 *
 * @typedef {object} Pipelines
 * @property {(source: string, access: string, label: string) => number} create
 *   returns the pipeline's number at once; a compiler error comes with the next read
 * @property {(source: string, access: string, label: string) => number} begin
 *   does the same in the background; a compiler error comes when it is used
 * @property {(numbers: string) => Promise<void>} settled takes a list in JSON and
 *   resolves when these, or all if it is empty, are compiled or refused
 * @property {() => number} pending how many compile in the background
 * @property {(number: number) => PipelineRecord} of
 * @property {(record: PipelineRecord) => GPUComputePipeline} ready
 *   compiles now what still compiles in the background, so that nobody waits
 * @property {(access: string) => GPUBindGroupLayout} groupLayout
 */

(() => {
  "use strict";

  const PARAMETER_BYTES = 256;
  const COMPUTE_STAGE = 0x4;

  /**
   * @param {GPUDevice} device @param {Failures} failures
   * @param {Record<string, number>} counters @returns {Pipelines}
   */
  return function createPipelines(device, failures, counters) {
    /** @type {PipelineRecord[]} */
    const records = [];
    /** @type {Map<string, {group: GPUBindGroupLayout, pipeline: GPUPipelineLayout}>} */
    const layouts = new Map();
    /** @type {Set<Promise<void>>} */
    const compiling = new Set();

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

    /**
     * @param {PipelineRecord} record @param {GPUShaderModule} module
     * @returns {GPUComputePipelineDescriptor}
     */
    function descriptorOf({ access, label }, module) {
      const layout = layoutOf(access).pipeline;
      return { label, layout, compute: { module, entryPoint: "main" } };
    }

    /** @param {PipelineRecord} record */
    function compile(record) {
      const { source, label } = record;
      device.pushErrorScope("internal");
      device.pushErrorScope("validation");
      const module = device.createShaderModule({ label, code: source });
      record.gpu = device.createComputePipeline(descriptorOf(record, module));
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
      return record.gpu;
    }

    /** @param {string} source @param {string} access @param {string} label */
    function add(source, access, label) {
      counters.pipelines += 1;
      records.push({ gpu: null, access, source, label });
      return records.length - 1;
    }

    /** @param {PipelineRecord} record */
    function compileInBackground(record) {
      const { source, label } = record;
      // The first use of a refused pipeline compiles it again and reports the error.
      device.pushErrorScope("validation");
      const module = device.createShaderModule({ label, code: source });
      failures.endScope(() => undefined);
      const result = device
        .createComputePipelineAsync(descriptorOf(record, module))
        .then((gpu) => void (record.gpu ??= gpu))
        .catch(() => undefined)
        .finally(() => compiling.delete(result));
      compiling.add(result);
      record.compiled = result;
    }

    return {
      create(source, access, label) {
        const number = add(source, access, label);
        compile(records[number]);
        return number;
      },
      begin(source, access, label) {
        const number = add(source, access, label);
        compileInBackground(records[number]);
        return number;
      },
      async settled(numbers) {
        const chosen = JSON.parse(numbers).map(
          (/** @type {number} */ number) => records[number].compiled,
        );
        await Promise.all(chosen.length ? chosen : compiling);
      },
      pending: () => compiling.size,
      of: (number) => records[number],
      ready: (record) => record.gpu ?? compile(record),
      groupLayout: (access) => layoutOf(access).group,
    };
  };
})();
