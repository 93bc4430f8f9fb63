// Opens the browser's GPU device and joins the driver's parts into one object whose
// functions take and return numbers and strings. `browser.py` gets the values of this
// script and of those of the parts. It works in windows and workers, in every engine
// with `navigator.gpu`, and touches no other global but `tensorwebAdapter`: a page may
// put the promise of an adapter there to have it sooner.

/**
 * @typedef {(device: GPUDevice) => Failures} CreateFailures
 * @typedef {(device: GPUDevice, failures: Failures,
 *   bindGroups: Map<string, GPUBindGroup>,
 *   counters: Record<string, number>) => Buffers} CreateBuffers
 * @typedef {(device: GPUDevice, failures: Failures,
 *   counters: Record<string, number>) => Pipelines} CreatePipelines
 * @typedef {(device: GPUDevice) => Timing} CreateTiming
 * @typedef {(device: GPUDevice, failures: Failures, buffers: Buffers,
 *   pipelines: Pipelines, timing: Timing, bindGroups: Map<string, GPUBindGroup>,
 *   counters: Record<string, number>) => Tapes} CreateTapes
 * @typedef {(device: GPUDevice, failures: Failures, buffers: Buffers,
 *   counters: Record<string, number>) => Reads} CreateReads
 */

(() => {
  "use strict";

  const MATRICES = "chromium-experimental-subgroup-matrix";
  const FEATURES = ["shader-f16", "subgroups", "timestamp-query", MATRICES];
  const LIMITS = [
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupSizeZ",
    "maxComputeWorkgroupsPerDimension",
    "maxStorageBuffersPerShaderStage",
  ];

  /** @type {any} */
  const host = globalThis;

  /** @returns {Promise<GPUAdapter>} */
  async function requestAdapter() {
    const gpu = host.navigator?.gpu;
    if (!gpu) {
      throw new Error(
        host.isSecureContext === false
          ? "WebGPU needs a page served over https or from localhost"
          : "this browser has no WebGPU (navigator.gpu is missing)",
      );
    }
    const early = host.tensorwebAdapter;
    host.tensorwebAdapter = undefined; // an adapter gives one device only
    const adapter =
      (early && (await early)) ||
      (await gpu.requestAdapter({ powerPreference: "high-performance" })) ||
      (await gpu.requestAdapter());
    if (!adapter) {
      throw new Error("the browser has WebGPU but offers no GPU adapter");
    }
    return adapter;
  }

  /** @param {GPUAdapter} adapter @returns {Promise<GPUDevice>} */
  function requestDevice(adapter) {
    const offered = /** @type {any} */ (adapter.limits);
    const limits = LIMITS.filter((name) => offered[name] !== undefined);
    const features = FEATURES.filter((name) => adapter.features.has(name));
    return adapter.requestDevice({
      requiredLimits: Object.fromEntries(limits.map((name) => [name, offered[name]])),
      requiredFeatures: /** @type {GPUFeatureName[]} */ (features),
    });
  }

  /**
   * Whether subgroups of 32 threads multiply 16 by 16 matrices of float16 and sum them
   * in float32.
   * @param {GPUDevice} device @param {any} info
   */
  function hasSubgroupMatrices(device, info) {
    const needed = ["shader-f16", "subgroups", MATRICES];
    if (!needed.every((name) => device.features.has(name))) return false;
    const isWarp = info.subgroupMinSize === 32 && info.subgroupMaxSize === 32;
    const shapes = [...(info.subgroupMatrixConfigs ?? [])];
    return isWarp && shapes.some(isSquareOfHalves);
  }

  /** @param {any} shape */
  function isSquareOfHalves({ componentType, resultComponentType, M, N, K }) {
    const isMixed = componentType === "f16" && resultComponentType === "f32";
    return isMixed && M === 16 && N === 16 && K === 16;
  }

  /**
   * @param {GPUAdapter} adapter @param {GPUDevice} device
   * @param {RegExp} software found in the names of adapters that are no GPU
   * @returns {string} JSON
   */
  function describe(adapter, device, software) {
    /** @type {any} */
    const info = adapter.info ?? {};
    const family = [info.vendor, info.architecture].filter(Boolean).join(" ");
    // Firefox reports only whether the adapter is a fallback.
    const unnamed = info.isFallbackAdapter ? "software adapter" : "unnamed GPU";
    const name = info.description || info.device || family || unnamed;
    /** @type {Record<string, number>} */
    const limits = {};
    for (const key in device.limits) {
      const value = /** @type {any} */ (device.limits)[key];
      if (typeof value === "number") limits[key] = value;
    }
    const isSoftware = info.isFallbackAdapter || software.test(`${name} ${family}`);
    return JSON.stringify({
      description: `${name} (WebGPU)`,
      names: {
        vendor: info.vendor ?? "",
        architecture: info.architecture ?? "",
        description: [info.device, info.description].filter(Boolean).join(" "),
      },
      isSoftware: Boolean(isSoftware),
      // Only Chromium reports it, rounded.
      hostGigabytes: /** @type {any} */ (globalThis.navigator)?.deviceMemory ?? 0,
      limits,
      features: FEATURES.filter((feature) => device.features.has(feature)),
      hasSubgroupMatrices: hasSubgroupMatrices(device, info),
    });
  }

  /**
   * @param {CreateFailures} createFailures @param {CreateBuffers} createBuffers
   * @param {CreatePipelines} createPipelines
   * @param {CreateTiming} createTiming @param {CreateTapes} createTapes
   * @param {CreateReads} createReads
   * @param {() => Promise<Kept>} openKept
   */
  return function connect(
    createFailures,
    createBuffers,
    createPipelines,
    createTiming,
    createTapes,
    createReads,
    openKept,
  ) {
    /**
     * Opens a device; rejects with an Error for people when there is none.
     * @param {string} software a regular expression, see `browser.py`
     */
    return async function open(software) {
      const adapter = await requestAdapter();
      const [device, { kept, keep }] = await Promise.all([
        requestDevice(adapter),
        openKept(),
      ]);
      const counters = {
        submits: 0,
        dispatches: 0,
        bind_groups: 0,
        buffers: 0,
        bytes: 0,
        pipelines: 0,
        reads: 0,
        live_buffers: 0,
        live_bytes: 0,
      };
      /** @type {Map<string, GPUBindGroup>} */
      const groups = new Map();
      const failures = createFailures(device);
      const buffers = createBuffers(device, failures, groups, counters);
      const pipelines = createPipelines(device, failures, counters);
      const timing = createTiming(device);
      const tapes = createTapes(
        device,
        failures,
        buffers,
        pipelines,
        timing,
        groups,
        counters,
      );
      const reads = createReads(device, failures, buffers, counters);
      failures.lostListeners.add(() => groups.clear());
      return {
        device,
        description: describe(adapter, device, new RegExp(software, "i")),
        createBuffer: buffers.create,
        /** @param {number} handle */
        bufferSize: (handle) => buffers.of(handle).size,
        destroyBuffer: buffers.destroy,
        write: buffers.write,
        fence: buffers.fence,
        createPipeline: pipelines.create,
        beginPipeline: pipelines.begin,
        pipelinesSettled: pipelines.settled,
        pendingPipelines: pipelines.pending,
        stage: tapes.stage,
        submit: tapes.submit,
        launchSeconds: timing.seconds,
        beginRead: reads.begin,
        finished: reads.finished,
        take: reads.take,
        abandon: reads.abandon,
        kept,
        keep,
        takeFailure: failures.take,
        isLost: failures.isLost,
        counters: () => JSON.stringify(counters),
        close() {
          failures.markLost("closed");
          device.destroy();
        },
      };
    };
  };
})();
