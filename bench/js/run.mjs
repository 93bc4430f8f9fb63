/**
 * Runs tables of workloads and training steps through libraries and returns rows of
 * results. A library is `{name, isPeer, cases(workload, inputs), end()}`, with
 * `trainer(network, inputs)` where it can train. `inputs()` returns the operands.
 */

import { errorOf, operands } from "./data.mjs";
import * as instruments from "./instruments.mjs";
import { measure } from "./timing.mjs";

const MOST_INSPECTED = 20; // operations whose compute passes are timed
const COMPARED_STEP = 20; // losses of the first and of this step are compared

/** Returns a case of functions: `run` enqueues, `sync` waits, `read` returns numbers. */
export function makeCase(workload, { run, sync = () => {}, read, ...rest }) {
  return {
    group: 1,
    ...rest,
    async batch(count) {
      const start = performance.now();
      await run(count);
      await sync();
      return performance.now() - start;
    },
    async check() {
      if (workload.is_chained) await run(1); // the result depends on the count
      return errorOf(workload, await read());
    },
  };
}

/**
 * Measures workloads; a case that fails becomes a line of `log`, not a row.
 * @param options those of `measure`, `log(text)`, `keep(rows)`: takes new rows, `inTurn`:
 * whether the cases of all libraries alternate, `isInspected`: counts and GPU times
 */
export async function runTable(workloads, libraries, options) {
  const { log, keep, inTurn } = options;
  for (const workload of workloads) {
    let made = null;
    const inputs = () => (made ??= operands(workload));
    for (const together of inTurn ? [libraries] : libraries.map((one) => [one])) {
      const cases = [];
      for (const library of together) {
        try {
          cases.push(...(await library.cases(workload, inputs)));
        } catch (error) {
          log(`${workload.name}: ${library.name} failed: ${messageOf(error)}`);
        }
      }
      for (const few of inTurn ? [cases] : cases.map((one) => [one])) {
        keep(await measureCases(workload, few, options));
      }
      for (const library of together) await library.end();
    }
  }
}

/** Returns the rows of cases; a workload without samples is not checked. */
export async function measureCases(workload, cases, options) {
  const { log, isInspected } = options;
  const times = await measure(cases, options);
  const rows = [];
  for (const [i, item] of cases.entries()) {
    try {
      const { error, count, ...found } = times[i];
      if (error) throw error;
      const { ms } = found;
      const err = workload.samples ? await item.check() : null;
      const few = Math.max(item.group, Math.min(count, MOST_INSPECTED));
      const inspected = isInspected
        ? await instruments.inspect(item, few - (few % item.group))
        : {};
      const row = {
        ...{ workload: workload.name, impl: item.name, ms, rate: workload.work / ms / 1e6 },
        ...{ unit: workload.unit, err, ok: err === null || err <= workload.tolerance },
        ...{ ...item.facts, ...found, ...inspected },
      };
      if (row.gpu_ms) row.gpu_rate = workload.work / row.gpu_ms / 1e6;
      rows.push(row);
      log(lineOf(row));
    } catch (error) {
      log(`${workload.name}: ${item.name} failed: ${messageOf(error)}`);
    }
  }
  return rows;
}

/** Measures training steps and forward passes of libraries that have a trainer. */
export async function runTraining(networks, libraries, options) {
  const { log, keep } = options;
  for (const library of libraries.filter(({ trainer }) => trainer)) {
    for (const network of networks) {
      try {
        const row = await measureTraining(network, library, options);
        keep([row]);
        log(`${lineOf(row)} python ${shown(row.python_ms, 3)} losses ${row.losses.join(" → ")}`);
      } catch (error) {
        log(`${network.name}: ${library.name} failed: ${messageOf(error)}`);
      }
    }
  }
}

async function measureTraining(network, library, options) {
  const begin = performance.now();
  const trainer = await library.trainer(network, operands(network));
  const item = makeCase(network, trainer);
  await item.batch(1);
  const first = performance.now() - begin;
  const losses = [await trainer.loss()];
  await item.batch(COMPARED_STEP - 1);
  losses.push(await trainer.loss());
  const [{ error, count, ...times }] = await measure([item], options);
  if (error) throw error;
  const few = Math.min(count, MOST_INSPECTED);
  const python = trainer.python ? await trainer.python(few) : null;
  const row = {
    ...{ workload: network.name, impl: trainer.name, unit: network.unit, err: null },
    ...{ rate: network.tokens / times.ms / 1e-3, first_ms: first, python_ms: python },
    ...{ ...times, ...(await instruments.inspect(item, few)), losses },
  };
  trainer.end();
  return row;
}

/** Opens the libraries of a specification; one that fails becomes a line of `log`. */
export async function openLibraries(names, open, log) {
  const opened = [];
  for (const name of names) {
    const started = performance.now();
    try {
      opened.push(await open(name));
      log(`${name.title ?? name}: ready in ${(performance.now() - started).toFixed(0)} ms`);
    } catch (error) {
      log(`${name.title ?? name}: left out, ${messageOf(error)}`);
    }
  }
  return opened;
}

/**
 * Runs everything that a specification asks of a GPU; returns the adapter's facts.
 * @param host `name` in results, `read(path)`: bytes of a file, `log`, `keep`
 */
export async function run(specification, host) {
  const { log, keep } = host;
  const { budget, libraries: names, tiny } = specification;
  instruments.watchDevices();
  const { gpu } = globalThis.navigator;
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Error("no GPU adapter; on Linux it needs a Vulkan driver");
  const { vendor, architecture, device, description } = adapter.info;
  const facts = [vendor, architecture, device].filter(Boolean).join(" ");
  log(`adapter: ${facts} ${description}`);
  const warm = await instruments.openWarmer(gpu, specification.warming);
  const environment = { ...specification, ...host, device: "webgpu" };
  const open = async (name) => (await import(`./${name}.mjs`)).open(environment);
  const libraries = await openLibraries(names, open, log);
  const tensorweb = libraries.find(({ isPeer }) => !isPeer);
  const options = { target: budget / 5, rounds: 5, warm, log, keep, isInspected: true };
  instruments.startCounting();
  for (const row of specification.ceilings) {
    if (tensorweb) keep(await measureCases(row, tensorweb.ceiling(row), options));
  }
  await tensorweb?.end();
  await runTable(specification.workloads, libraries, options);
  await runTraining(specification.networks, libraries, options);
  instruments.stopCounting();
  // Last: the GPU mostly waits meanwhile and slows down; first calls open devices.
  if (tensorweb && specification.launches) keep(await tensorweb.launches(tiny));
  return { adapter: facts, driver: description || device || architecture };
}

function lineOf(row) {
  return [
    row.workload.padEnd(18),
    row.impl.padEnd(38),
    `${shown(row.ms, 4)} ms`.padStart(14),
    `gpu ${shown(row.gpu_ms, 4)}`.padStart(14),
    `single ${shown(row.single_ms, 2)}`.padStart(15),
    `cold ${shown(row.cold_ms, 1)}`.padStart(13),
    `${shown(row.rate, 1)} ${row.unit}`.padStart(20),
    row.err === null ? "" : `${row.err.toExponential(1)}${row.ok ? "" : " BAD"}`,
    row.dispatches ? `${row.dispatches.toFixed(2)}/${row.submits.toFixed(2)}` : "",
  ].join(" ");
}

function shown(number, digits) {
  return (number ?? null) === null ? "-" : number.toFixed(digits);
}

export function messageOf(error) {
  return String(error?.message ?? error).trim().split("\n").slice(-3).join(" | ").slice(0, 500);
}
