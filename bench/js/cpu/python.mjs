/** tensorweb's device `cpu`, and NumPy, each in a Pyodide of its own. */

const TENSORWEB = `
import tensorweb as tw
from bench.cases import ProgramCase

tw.set_default_device("cpu")
description = await tw.open_device_async("cpu")

def make(program, operands, is_chained, is_jitted):
    operands = [(data.to_bytes(), shape.to_py(), dtype) for data, shape, dtype in operands]
    options = {"is_jitted": is_jitted, "is_chained": is_chained, "device": "cpu"}
    return ProgramCase(program, operands, 1, **options)
`;

const NUMPY = `
from bench.numpy_cases import NumPyCase

def make(program, operands, is_chained, is_jitted):
    operands = [(data.to_bytes(), shape.to_py(), dtype) for data, shape, dtype in operands]
    return NumPyCase(program, operands, is_chained=is_chained)
`;

/** Opens tensorweb: the `wheel` and the benchmarks' `sources` are addresses. */
export async function openTensorweb({ threads }, { pyodide: home, wheel, sources }) {
  const pyodide = await load(home, [sources]);
  await unpack(pyodide, wheel);
  const scope = pyodide.globals.get("dict")();
  await pyodide.runPythonAsync(TENSORWEB, { globals: scope });
  const description = scope.get("description");
  if (!description.includes(`(${threads} thread`)) {
    throw new Error(`${description} instead of ${threads} threads`);
  }
  const ways = ({ is_jitted: isJitted }) => (isJitted ? [false, true] : [false]);
  return library(pyodide, "tensorweb", scope.get("make"), ways, (python) => python.result());
}

/** Opens NumPy. */
export async function openNumPy({ pyodide: home, sources, numpy }) {
  if (!numpy) throw new Error("no wheel of NumPy: name a folder that has it by --wheels");
  const pyodide = await load(home, [sources]);
  await pyodide.loadPackage(numpy, { messageCallback() {} });
  const scope = pyodide.globals.get("dict")();
  await pyodide.runPythonAsync(NUMPY, { globals: scope });
  const read = (python, { dtype }) => python.result(dtype);
  return library(pyodide, "NumPy", scope.get("make"), () => [false], read);
}

async function load(home, archives) {
  const { loadPyodide } = await import(new URL("pyodide.mjs", home));
  const pyodide = await loadPyodide({ indexURL: home });
  for (const archive of archives) await unpack(pyodide, archive);
  return pyodide;
}

async function unpack(pyodide, address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address} answered ${response.status}`);
  pyodide.unpackArchive(await response.arrayBuffer(), "zip");
}

function library(pyodide, name, make, ways, result) {
  let open = [];
  return {
    name,
    cases(workload, data) {
      const operands = data.map((values, i) => {
        const { shape, dtype } = workload.inputs[i];
        return [new Uint8Array(values.buffer), shape, dtype];
      });
      return ways(workload).map((isJitted) => {
        const { program, is_chained: isChained } = workload;
        const python = make(program, operands, isChained, isJitted);
        open.push(python);
        return {
          name: isJitted ? `${name} jit` : name,
          run: (count) => python.run(count),
          sync: () => {},
          read: () => numbers(result(python, workload), workload),
        };
      });
    },
    end() {
      for (const python of open) python.destroy();
      open = [];
      pyodide.runPython("import gc; gc.collect()");
    },
  };
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
