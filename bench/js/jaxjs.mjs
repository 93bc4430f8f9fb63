/** jax-js: eager, and through its `jit` where that differs. */

import { familiesOf, JITTED } from "./families/jaxjs.mjs";
import * as instruments from "./instruments.mjs";
import { WINDOWS } from "./references.mjs";

/** How each device is made to compute a result now, and how all of it is awaited. */
const WAYS = {
  webgpu: {
    force: (x) => x.ref.gpuBuffer(), // until then nothing runs
    // Asked right after `init`: later libraries open devices of their own.
    syncOf: ({ queue }) => () => queue.onSubmittedWorkDone(),
  },
  wasm: { force: (x) => x.blockUntilReady(), syncOf: () => () => {} },
};

/** Opens a device; `source` is the library's module. */
export async function open({ device = "webgpu", source = "@jax-js/jax" } = {}) {
  const jax = await import(source);
  const devices = await jax.init(device);
  if (!devices.includes(device)) throw new Error(`no ${device}, only ${devices}`);
  jax.defaultDevice(device);
  const { force, syncOf } = WAYS[device];
  const sync = syncOf(instruments.newestDevice);
  const programs = { ...programsOf(jax), ...familiesOf(jax) };
  const { tree } = jax;
  let kept = [];

  function operandOf({ shape, dtype }, data) {
    const array = (values, type) =>
      jax.numpy.array(values, { dtype: jax.numpy[type] }).reshape(shape);
    if (dtype !== "complex64") return array(data, dtype);
    const part = (first) => array(data.filter((_, i) => i % 2 === first), "float32");
    return { real: part(0), imag: part(1) };
  }

  /** Returns the numbers of a result: one array, several, or a pair for complex ones. */
  async function numbersOf(result) {
    const parts = await Promise.all(tree.leaves(result).map((x) => x.ref.data()));
    if (parts.length === 1) return parts[0];
    const numbers = new Float32Array(parts.length * parts[0].length);
    const isPair = "imag" in result;
    parts.forEach((values, k) => {
      if (isPair) values.forEach((value, i) => (numbers[2 * i + k] = value));
      else numbers.set(values, k * values.length);
    });
    return numbers;
  }

  function caseOf(title, program, operands, isChained) {
    let last = null;
    kept.push({ dispose: () => tree.dispose(last) });
    return {
      name: `jax-js ${title}`,
      group: 1,
      async run(count) {
        for (let i = 0; i < count; i++) {
          const isNext = isChained && i;
          if (!isNext) tree.dispose(last);
          // An operation consumes its operands; `ref` keeps one more use.
          last = isNext ? program(last) : program(...operands.map(tree.ref));
          for (const leaf of tree.leaves(last)) await force(leaf);
        }
      },
      sync,
      read: () => numbersOf(last),
    };
  }

  return {
    name: "jax-js",
    isPeer: true,
    async cases(workload, data) {
      const program = programs[workload.program];
      if (!program) return [];
      const operands = workload.inputs.map((input, i) => operandOf(input, data[i]));
      await jax.blockUntilReady(operands);
      kept.push({ dispose: () => tree.dispose(operands) });
      const name = workload.program;
      const { is_chained: isChained } = workload;
      const found = [caseOf(name, program, operands, isChained)];
      if (FUSED.has(name) || JITTED.has(name)) {
        found.push(caseOf(`${name} jit`, jax.jit(program), operands, isChained));
      }
      return found;
    },
    end() {
      for (const item of kept) item.dispose();
      kept = [];
    },
  };
}

/** Programs of several operations, which `jit` fuses. */
const FUSED = new Set(["elem", "softmax", "layernorm", "increment"]);

function programsOf({ numpy: np, nn, lax }) {
  const convolution = ({ stride, padding }) => {
    const around = [padding, padding];
    return (x, w) => lax.convGeneralDilated(x, w, [stride, stride], [around, around]);
  };
  const turned = (x) => np.matrixTranspose(x);
  return {
    matmul: (a, b) => np.matmul(a, b),
    matmul_nt: (a, b) => np.matmul(a, turned(b)),
    matmul_tn: (a, b) => np.matmul(turned(a), b),
    matvec: (a, x) => np.matmul(a, x),
    elem: (x) => np.exp(x.ref.mul(x).mul(-1)).mul(2).add(1),
    sum: (x) => np.sum(x),
    rowsum: (x) => np.sum(x, 1),
    colsum: (x) => np.sum(x, 0),
    softmax: (x) => nn.softmax(x, -1),
    layernorm(x) {
      const centred = x.ref.sub(np.mean(x, 1, { keepdims: true }));
      const variance = np.mean(centred.ref.mul(centred.ref), 1, { keepdims: true });
      return centred.div(np.sqrt(variance.add(1e-5)));
    },
    cumsum: (x) => np.cumsum(x),
    gather: (table, indices) => np.take(table, indices, 0),
    // Without an operation behind it a transposition moves nothing.
    transpose_copy: (x) => np.transpose(x).mul(1),
    sort: (x) => np.sort(x),
    argsort: (x) => np.argsort(x),
    argmax: (x) => np.argmax(x, 1),
    increment: (x) => x.add(1),
    conv2d: convolution(WINDOWS.conv2d),
    conv2d_7x7s2: convolution(WINDOWS.conv2d_7x7s2),
  };
}
