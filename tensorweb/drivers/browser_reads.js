// Reading bytes back from one device through reused mappable buffers. A read has a
// ticket: `begin` starts it, `finished` is its promise, `take` copies the bytes.

/**
 * @typedef {{staging: GPUBuffer, size: number, isMapped: boolean, isAbandoned: boolean,
 *   finished: Promise<number>}} Ticket
 *
 * @typedef {object} Reads
 * @property {(handle: number, offset: number, size: number) => number} begin
 *   starts to read a multiple of 4 bytes and returns the ticket
 * @property {(ticket: number) => Promise<number>} finished never rejects; 0 when the
 *   bytes are there, -1 when a failure must be taken
 * @property {(ticket: number, target: PythonBuffer) => void} take
 * @property {(ticket: number) => void} abandon ends a read whose bytes nobody wants
 */

(() => {
  "use strict";

  // Pages end what a program asked of these; what the driver asks goes on.
  const { setTimeout } = globalThis;

  const MAP_READ = 0x0001;
  const COPY_DST = 0x0008;
  const READ_MODE = 0x0001;
  const SMALLEST = 4096;
  const KEPT_BYTES = 64 << 20;
  const LOSS_NOTICE_MS = 50;

  // Firefox looks at the queue every 100 ms unless a submission follows the request:
  // https://bugzilla.mozilla.org/show_bug.cgi?id=1870699 (153.7, November 2026).
  const userAgent = String(globalThis.navigator?.userAgent ?? "");
  const needsNudge = userAgent.includes("Firefox/");

  /**
   * @param {GPUDevice} device @param {Failures} failures @param {Buffers} buffers
   * @param {Record<string, number>} counters @returns {Reads}
   */
  return function createReads(device, failures, buffers, counters) {
    /** @type {Map<number, Ticket>} */
    const tickets = new Map();
    let nextTicket = 1;
    /** @type {Map<number, GPUBuffer[]>} */
    const idle = new Map();
    let idleBytes = 0;

    /** @param {number} size @returns {GPUBuffer} */
    function takeStaging(size) {
      const capacity = Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(size)));
      const staging = idle.get(capacity)?.pop();
      if (staging) {
        idleBytes -= capacity;
        return staging;
      }
      const exact = capacity > KEPT_BYTES ? size : capacity;
      return buffers.allocate(exact, MAP_READ | COPY_DST);
    }

    /** @param {GPUBuffer} staging */
    function keepStaging(staging) {
      const capacity = staging.size;
      if (failures.isLost() || idleBytes + capacity > KEPT_BYTES) {
        failures.forget(staging);
        staging.destroy();
        return;
      }
      idleBytes += capacity;
      const list = idle.get(capacity);
      if (list) list.push(staging);
      else idle.set(capacity, [staging]);
    }

    /** @param {Ticket} ticket */
    function unmap(ticket) {
      ticket.isMapped = false;
      ticket.staging.unmap();
      keepStaging(ticket.staging);
    }

    /** Makes Firefox look at the queue. @param {() => boolean} isDone */
    function nudge(isDone) {
      let delay = 1;
      const step = () => {
        if (isDone() || failures.isLost()) return;
        device.queue.submit([]);
        setTimeout(step, delay);
        delay = Math.min(delay * 1.25, 20);
      };
      step();
    }

    /** @param {Ticket} ticket @returns {Promise<number>} */
    function map(ticket) {
      return new Promise((resolve) => {
        let isDone = false;
        const lose = () => finish(-1);
        /** @param {number} status */
        const finish = (status) => {
          isDone = true;
          failures.lostListeners.delete(lose);
          resolve(status);
        };
        failures.lostListeners.add(lose);
        ticket.staging.mapAsync(READ_MODE, 0, ticket.size).then(
          async () => {
            ticket.isMapped = true;
            if (ticket.isAbandoned) unmap(ticket);
            await failures.settled();
            finish(failures.any() ? -1 : 0);
          },
          (error) => {
            const text = String(error?.message ?? error);
            // A lost device rejects the map shortly before `device.lost` resolves.
            setTimeout(async () => {
              await failures.settled();
              if (isDone) return;
              if (!failures.any()) failures.add({ kind: "backend", text });
              finish(-1);
            }, LOSS_NOTICE_MS);
          },
        );
        if (needsNudge) nudge(() => isDone);
      });
    }

    /** @type {Reads["abandon"]} */
    function abandon(id) {
      const ticket = tickets.get(id);
      if (!ticket) return;
      tickets.delete(id);
      ticket.isAbandoned = true;
      if (ticket.isMapped) unmap(ticket);
    }

    return {
      abandon,
      begin(handle, offset, size) {
        const id = nextTicket++;
        if (failures.isLost()) return id; // a ticket unknown to `finished`
        const record = buffers.of(handle);
        failures.recall(record);
        const staging = takeStaging(size);
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(record.gpu, offset, staging, 0, size);
        device.queue.submit([encoder.finish()]);
        const state = { staging, size, isMapped: false, isAbandoned: false };
        const ticket = /** @type {Ticket} */ (state);
        ticket.finished = map(ticket);
        tickets.set(id, ticket);
        counters.reads += 1;
        return id;
      },
      finished: (id) => tickets.get(id)?.finished ?? Promise.resolve(-1),
      take(id, target) {
        const ticket = tickets.get(id);
        if (!ticket?.isMapped) throw new Error(`internal: read ${id} is not mapped`);
        const view = target.getBuffer(); // now: memory growth detaches older views
        try {
          view.data.set(new Uint8Array(ticket.staging.getMappedRange(0, ticket.size)));
        } finally {
          view.release();
          abandon(id);
        }
      },
    };
  };
})();
