// Collects what went wrong on one device until a read or a check asks for it: a lost
// device, a refused shader, memory that could not be had, an invalid command.

/**
 * @typedef {{kind: "lost"|"shader"|"memory"|"backend", text: string, size?: number,
 *   label?: string, source?: string,
 *   messages?: {text: string, line: number, column: number}[]}} Failure
 *
 * @typedef {object} Failures
 * @property {(failure: Failure) => void} add
 * @property {() => boolean} any
 * @property {(record: object, failure: Failure) => void} markBroken
 *   `record` (a buffer or pipeline) never came to be; each use of it fails again
 * @property {(record: object) => void} forget the record was dropped
 * @property {() => boolean} anyBroken
 * @property {(record: object) => void} recall adds the failure of a broken record again
 * @property {(report: (error: GPUError) => void | Promise<void>) => void} endScope
 *   ends the innermost error scope and reports what it caught
 * @property {() => Promise<void>} settled resolves when no error scope is pending
 * @property {() => boolean} isLost
 * @property {(text: string) => void} markLost
 * @property {Set<() => void>} lostListeners called once when the device is lost
 * @property {() => string} take the gravest failure as JSON, "" for none; forgets
 *   the others
 */

(() => {
  "use strict";

  /** @param {GPUDevice} device @returns {Failures} */
  return function createFailures(device) {
    /** @type {Failure | undefined} */
    let lost;
    /** @type {Failure[]} */
    let found = [];
    /** @type {Map<object, Failure>} */
    const broken = new Map();
    /** @type {Set<Promise<void>>} */
    const scopes = new Set();
    /** @type {Set<() => void>} */
    const lostListeners = new Set();

    /** @param {string} text */
    function markLost(text) {
      if (lost) return;
      lost = { kind: "lost", text };
      for (const listener of lostListeners) listener();
      lostListeners.clear();
    }

    device.lost.then((info) => {
      const reason = info.reason ?? "unknown";
      markLost(info.message ? `${reason}: ${info.message}` : reason);
    });
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault();
      found.push({ kind: "backend", text: event.error.message });
    });

    return {
      add: (failure) => void found.push(failure),
      any: () => lost !== undefined || found.length > 0,
      markBroken(record, failure) {
        broken.set(record, failure);
        found.push(failure);
      },
      forget: (record) => void broken.delete(record),
      anyBroken: () => broken.size > 0,
      recall(record) {
        const failure = broken.get(record);
        if (failure && !found.includes(failure)) found.push(failure);
      },
      endScope(report) {
        const result = device
          .popErrorScope()
          .then((error) => (error ? report(error) : undefined))
          .catch(() => {}) // the device is lost, which is reported on its own
          .finally(() => scopes.delete(result));
        scopes.add(result);
      },
      async settled() {
        while (scopes.size) await Promise.all(scopes);
      },
      isLost: () => lost !== undefined,
      markLost,
      lostListeners,
      take() {
        if (lost) return JSON.stringify(lost);
        const gravest =
          found.find((failure) => failure.kind === "shader") ??
          found.find((failure) => failure.kind === "memory") ??
          found[0];
        found = []; // the others follow from it
        return gravest ? JSON.stringify(gravest) : "";
      },
    };
  };
})();
