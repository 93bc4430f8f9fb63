/**
 * tensorweb inside Pyodide, in Node or a worker, on the GPU or the CPU, and NumPy
 * on the CPU. One call of Python runs a batch.
 */

import * as instruments from "./instruments.mjs";
import { makeCase } from "./run.mjs";

const PYTHON = `
import tensorweb as tw
from pyodide.ffi import can_run_sync
from bench import cases, launches, training

description = await tw.open_device_async(device)
tw.set_default_device(device)
make = cases.make
waits = device == "webgpu" and can_run_sync()
`;

/** Returns Python with the archives at some paths unpacked. */
async function openPyodide({ pyodide: home, read }, archives) {
  const address = new URL(home, import.meta.url);
  const { loadPyodide } = await import(new URL("pyodide.mjs", address).href);
  const options = address.protocol === "file:" ? {} : { indexURL: address.href };
  const pyodide = await loadPyodide(options);
  for (const path of archives) pyodide.unpackArchive(await read(path), "zip");
  return pyodide;
}

/** Opens tensorweb; `name` is the host's in results, empty for Node and for the CPU. */
export async function open(environment) {
  const { device, wheel, sources, threads, name: host } = environment;
  const pyodide = await openPyodide(environment, [wheel, sources]);
  const scope = pyodide.globals.get("dict")();
  scope.set("device", device);
  await pyodide.runPythonAsync(PYTHON, { globals: scope });
  const description = scope.get("description");
  if (device === "cpu" && !description.includes(`(${threads} thread`)) {
    throw new Error(`${description} instead of ${threads} threads`);
  }
  const name = host ? `tensorweb in ${host}` : "tensorweb";
  const waits = scope.get("waits");
  const queue = instruments.newestDevice?.queue;
  const onGpu = {
    // Some operations wait for a value (an index's check), which needs this entry.
    start: (python, count) => (waits ? python.run.callPromising(count) : python.run(count)),
    sync: () => queue.onSubmittedWorkDone(),
  };
  const onCpu = { start: (python, count) => python.run(count), sync: () => {} };
  const { start, sync } = device === "cpu" ? onCpu : onGpu;
  let opened = [];
  let isWarm = false;

  function ways({ group, is_jitted: isJitted }) {
    if (device === "cpu") return [["", 1, false], ...(isJitted ? [[" jit", 1, true]] : [])];
    const found = [[", one submit per op", 1, false]];
    if (group > 1) found.unshift(["", group, false]);
    if (isJitted) found.push([", jit", group, true]);
    return found;
  }

  function caseOf(workload, python, title, group) {
    opened.push(python);
    const item = makeCase(workload, {
      name: title,
      group,
      run: (count) => start(python, count),
      sync,
      read: async () => numbers(await python.result_async(), workload),
    });
    item.regroup = (count) => {
      item.group = count;
      python.regroup(count);
    };
    return item;
  }

  const evaluated = async (code) => JSON.parse(await pyodide.runPythonAsync(code, { globals: scope }));
  const library = {
    name,
    async cases(workload, inputs) {
      const given = operandsOf(workload, inputs());
      return ways(workload).map(([title, group, isJitted]) => {
        const python = scope.get("make")(workload.program, given, group, isJitted, workload.is_chained, device);
        return caseOf(workload, python, `${name}${title}`, group);
      });
    },
    /** Returns the case of a hand-written kernel, the most that the GPU can do. */
    ceiling(row) {
      const python = pyodide.runPython("cases.CeilingCase", { globals: scope })(pyodide.toPy(row));
      return [caseOf(row, python, host ? `WGSL in ${host}` : "WGSL", 1)];
    },
    async trainer(network, inputs) {
      if (!isWarm) await pyodide.runPythonAsync("await tw.warm_up_async()", { globals: scope });
      isWarm = true;
      const python = pyodide.runPython("training.open_trainer", { globals: scope })(
        network.name,
        pyodide.toPy(inputs.map((values) => new Uint8Array(values.buffer))),
        ...[network.is_tiny],
      );
      return {
        name,
        run: (count) => start(python, count),
        sync,
        loss: () => python.loss_async(),
        /** Returns milliseconds of Python and of the bridge per step. */
        python: (count) => python.python_ms(count),
        end: () => collect([python]),
      };
    },
    /** Measures launches, statements, reads, transfers and first calls. */
    launches: async (tiny) =>
      (await evaluated(`launches.measure(tiny=${tiny ? "True" : "False"})`)).map((row) => ({
        ...row,
        impl: name,
      })),
    end() {
      collect(opened);
      opened = [];
    },
  };

  function collect(proxies) {
    for (const python of proxies) python.destroy();
    pyodide.runPython("import gc; gc.collect()");
  }

  return library;
}

/** Opens NumPy, which has no threads. */
export async function openNumPy(environment) {
  const { sources, numpy } = environment;
  if (!numpy) throw new Error("no wheel of NumPy: name a folder that has it by --wheels");
  const pyodide = await openPyodide(environment, [sources]);
  await pyodide.loadPackage(new URL(numpy, self.location.href).href, { messageCallback() {} });
  const make = pyodide.runPython("from bench.programs import NumPyCase; NumPyCase");
  let python = null;
  return {
    name: "NumPy",
    cases(workload, inputs) {
      python = make(workload.program, operandsOf(workload, inputs()), workload.is_chained);
      const current = python;
      return [
        makeCase(workload, {
          name: "NumPy",
          run: (count) => current.run(count),
          read: () => numbers(current.result(workload.dtype), workload),
        }),
      ];
    },
    end() {
      python?.destroy();
      python = null;
      pyodide.runPython("import gc; gc.collect()");
    },
  };
}

function operandsOf({ inputs }, data) {
  return data.map((values, i) => {
    const { shape, dtype } = inputs[i];
    return [new Uint8Array(values.buffer), shape, dtype];
  });
}

function numbers(bytes, { dtype }) {
  const view = bytes.getBuffer();
  try {
    const copy = view.data.slice().buffer;
    return dtype === "int32" ? new Int32Array(copy) : new Float32Array(copy);
  } finally {
    view.release();
    bytes.destroy();
  }
}
