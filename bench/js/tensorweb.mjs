/**
 * tensorweb inside Pyodide, in Node or a worker: its cases run from Python, one Python
 * call for a batch.
 */

import * as instruments from "./instruments.mjs";
import { measureCase } from "./table.mjs";

const PYTHON = `
import tensorweb as tw
from bench.cases import CeilingCase, ProgramCase
from pyodide.ffi import can_run_sync

await tw.open_device_async()
tw.set_default_device("webgpu")
waits = can_run_sync()

def make(program, operands, group, is_jitted):
    operands = [(data.to_bytes(), shape.to_py(), dtype) for data, shape, dtype in operands]
    return ProgramCase(program, operands, group, is_jitted=is_jitted)

def make_ceiling(name, tiny):
    return CeilingCase(name, tiny=tiny)
`;

/**
 * Unpacks the wheel and the benchmarks' Python into Pyodide and opens the GPU.
 * @param wheel, sources bytes of two zip files; @param host in the name of results,
 * empty for Node
 */
export async function openTensorweb(pyodide, wheel, sources, host = "") {
  pyodide.unpackArchive(wheel, "wheel");
  pyodide.unpackArchive(sources, "zip");
  const scope = pyodide.globals.get("dict")();
  await pyodide.runPythonAsync(PYTHON, { globals: scope });
  const device = instruments.newestDevice;
  const make = scope.get("make");
  const makeCeiling = scope.get("make_ceiling");
  const name = host ? `tensorweb in ${host}` : "tensorweb";
  const waits = scope.get("waits");
  let open = [];

  function caseOf(title, python, group, Numbers = Float32Array) {
    open.push(python);
    const item = {
      name: title,
      group,
      regroup(count) {
        item.group = count;
        python.regroup(count);
      },
      // Some operations wait for a value (an index's check), which needs this entry.
      run: (count) => (waits ? python.run.callPromising(count) : python.run(count)),
      sync: () => device.queue.onSubmittedWorkDone(),
      async read() {
        const bytes = await python.result_async();
        const view = bytes.getBuffer();
        try {
          return new Numbers(view.data.slice().buffer);
        } finally {
          view.release();
          bytes.destroy();
        }
      },
    };
    return item;
  }

  function end() {
    for (const python of open) python.destroy();
    open = [];
    pyodide.runPython("import gc; gc.collect()");
  }

  return {
    name,
    end,
    async cases({ program, group, is_jitted, inputs, dtype }, data) {
      const operands = data.map((values, i) => [
        new Uint8Array(values.buffer),
        inputs[i].shape,
        inputs[i].dtype,
      ]);
      const Numbers = dtype === "int32" ? Int32Array : Float32Array;
      const ways = [[`${name}, one submit per op`, 1, false]];
      if (group > 1) ways.unshift([name, group, false]);
      if (is_jitted) ways.push([`${name}, jit`, group, true]);
      return ways.map(([title, count, isJitted]) =>
        caseOf(title, make(program, operands, count, isJitted), count, Numbers),
      );
    },
    /** Measures what the GPU can do at most; returns rows. */
    async ceilings(rows, tiny, options) {
      const found = [];
      for (const row of rows) {
        const workload = { ...row, tolerance: 0 };
        const item = caseOf(host ? `WGSL in ${host}` : "WGSL", makeCeiling(row.name, tiny), 1);
        const result = await measureCase(workload, null, item, options);
        if (result) found.push(result);
      }
      end();
      return found;
    },
    /** Measures launches, statements, reads and transfers; needs a host that waits. */
    async launches(tiny) {
      const text = await pyodide.runPythonAsync(
        `from bench import launches; launches.measure(tiny=${tiny ? "True" : "False"})`,
      );
      return JSON.parse(text).map((row) => ({ ...row, impl: name }));
    },
    /** Measures first calls on fresh devices, cold and warmed up. */
    async firstCalls(tiny) {
      const text = await pyodide.runPythonAsync(
        `from bench import first_calls; first_calls.measure(tiny=${tiny ? "True" : "False"})`,
      );
      return JSON.parse(text).map((row) => ({ ...row, impl: name }));
    },
    profile: () =>
      pyodide.runPythonAsync("from bench import profiles; profiles.report()"),
  };
}
