/** The training steps in tensorweb inside Pyodide: one Python call for many steps. */

import * as instruments from "../instruments.mjs";

const PYTHON = `
import tensorweb as tw
from bench.train.trainer import Forward, Trainer

await tw.open_device_async()
tw.set_default_device("webgpu")
await tw.warm_up_async()
`;

export const name = "tensorweb";

/** `pyodide` holds the wheel and the benchmarks' Python. */
export async function open({ pyodide, host, tiny }) {
  const scope = pyodide.globals.get("dict")();
  await pyodide.runPythonAsync(PYTHON, { globals: scope });
  const { queue } = instruments.newestDevice;
  const [Trainer, Forward] = ["Trainer", "Forward"].map((name) => scope.get(name));
  const bytes = (array) => new Uint8Array(array.buffer);

  function trainerOf(python) {
    return {
      impl: `tensorweb in ${host}`,
      run: (count) => python.run.callPromising(count),
      sync: () => queue.onSubmittedWorkDone(),
      loss: () => python.loss_async(),
      /** Returns milliseconds of Python and of the bridge per step. */
      python: (count) => python.python_ms(count),
      end() {
        python.destroy();
        pyodide.runPython("import gc; gc.collect()");
      },
    };
  }

  return (network, values) => {
    if (!values) return trainerOf(Forward(network.name, tiny));
    const parameters = pyodide.toPy(
      Object.fromEntries(
        Object.entries(values.parameters).map(([key, array]) => [key, bytes(array)]),
      ),
    );
    const { x, y } = values;
    return trainerOf(Trainer(network.name, tiny, parameters, bytes(x), bytes(y)));
  };
}
