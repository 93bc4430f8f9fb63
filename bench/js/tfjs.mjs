/** TensorFlow.js on its WebGPU backend, or on its WebAssembly backend. */

import { familiesOf, FAMILY_LAYOUTS } from "./families/tfjs.mjs";
import { WINDOWS } from "./references.mjs";

export async function open() {
  globalThis.window ??= globalThis;
  globalThis.document ??= { createElement: () => ({ getContext: () => null }) };
  const tf = await import("./vendor/tfjs.mjs");
  tf.env().set("WEBGPU_CPU_FORWARD", false); // small tensors on the GPU as well
  await use(tf, "webgpu");
  const backend = tf.backend();
  return library(tf, { ...programsOf(tf), ...familiesOf(tf) }, async () => {
    backend.endComputePassEncoder();
    if (backend.commandEncoder) backend.submitQueue();
    await backend.device.queue.onSubmittedWorkDone();
  });
}

/** Opens the WebAssembly backend, whose files are below the address `files`. */
export async function openWasm({ files, threads }) {
  const tf = await import("./vendor/tfjs-wasm.mjs");
  tf.setWasmPaths(files);
  if (threads > 1) {
    // It takes half of the machine's cores at most: told of twice as many, it takes all.
    Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 * threads });
    tf.setThreadsCount(threads);
  }
  await use(tf, "wasm");
  if (threads > 1 && tf.getThreadsCount() !== threads) {
    throw new Error(`${tf.getThreadsCount()} threads instead of ${threads}`);
  }
  return library(tf, { ...programsOf(tf), ...ordersOf(tf) }, () => {});
}

async function use(tf, backend) {
  await tf.setBackend(backend);
  await tf.ready();
  if (tf.getBackend() !== backend) throw new Error(`backend is ${tf.getBackend()}`);
}

function library(tf, programs, sync) {
  let kept = [];

  return {
    name: "TF.js",
    isPeer: true,
    async cases(workload, data) {
      const program = programs[workload.program];
      if (!program) return [];
      const layout = LAYOUTS[workload.program];
      const operands = workload.inputs.map(({ shape, dtype }, i) =>
        tf.tidy(() => {
          const given = tensorOf(tf, data[i], shape, dtype);
          return layout ? tf.transpose(given, layout.inputs[i]) : given;
        }),
      );
      let last = null;
      kept = [...operands, { dispose: () => tf.dispose(last) }];
      const item = {
        name: `TF.js ${workload.program}`,
        group: 1,
        run(count) {
          for (let i = 0; i < count; i++) {
            const before = workload.is_chained && i ? last : null;
            if (!before) tf.dispose(last);
            last = tf.tidy(() => program(...(before ? [before] : operands)));
            before?.dispose();
          }
        },
        sync,
        read() {
          const ordered = (x) => (layout ? tf.transpose(x, layout.output) : x);
          // Several results are read one after the other.
          return tf.tidy(() => (Array.isArray(last) ? tf.stack(last) : ordered(last))).data();
        },
      };
      return [item];
    },
    end() {
      for (const tensor of kept) tensor.dispose();
      kept = [];
    },
  };
}

const CHANNELS_LAST = {
  inputs: [
    [0, 2, 3, 1],
    [2, 3, 1, 0],
  ],
  output: [0, 3, 1, 2],
};

/** Convolutions get and give TensorFlow's own order of axes; reordering is not timed. */
const LAYOUTS = { conv2d: CHANNELS_LAST, conv2d_7x7s2: CHANNELS_LAST, ...FAMILY_LAYOUTS };

/** Complex numbers come as real and imaginary parts in turn. */
function tensorOf(tf, values, shape, dtype) {
  if (dtype !== "complex64") return tf.tensor(values, shape, dtype);
  const part = (first) => tf.tensor(values.filter((_, i) => i % 2 === first), shape);
  return tf.complex(part(0), part(1));
}

function programsOf(tf) {
  const convolution = ({ stride, padding }) => (x, w) => tf.conv2d(x, w, stride, padding);
  return {
    matmul: (a, b) => tf.matMul(a, b),
    matmul_nt: (a, b) => tf.matMul(a, b, false, true),
    matmul_tn: (a, b) => tf.matMul(a, b, true, false),
    matvec: (a, x) => tf.squeeze(tf.matMul(a, tf.expandDims(x, 1)), [1]),
    elem: (x) => tf.add(tf.mul(tf.exp(tf.neg(tf.mul(x, x))), 2), 1),
    sum: (x) => tf.sum(x),
    rowsum: (x) => tf.sum(x, 1),
    colsum: (x) => tf.sum(x, 0),
    softmax: (x) => tf.softmax(x),
    layernorm(x) {
      const { mean, variance } = tf.moments(x, 1, true);
      return tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-5)));
    },
    cumsum: (x) => tf.cumsum(x),
    gather: (table, indices) => tf.gather(table, indices),
    scatter_add(table, indices, values) {
      const sums = tf.scatterND(tf.expandDims(indices, 1), values, table.shape);
      return tf.add(table, sums);
    },
    transpose_copy: (x) => tf.transpose(x),
    argmax: (x) => tf.argMax(x, 1),
    increment: (x) => tf.add(x, 1),
    conv2d: convolution(WINDOWS.conv2d),
    conv2d_7x7s2: convolution(WINDOWS.conv2d_7x7s2),
  };
}

/** There is no sort: `topk` of all, which has the largest first, is the nearest. */
function ordersOf(tf) {
  const ordered = (x) => tf.topk(tf.neg(x), x.shape[0], true);
  return { sort: (x) => tf.neg(ordered(x).values), argsort: (x) => ordered(x).indices };
}
