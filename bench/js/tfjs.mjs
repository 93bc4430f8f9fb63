/**
 * TensorFlow.js on its WebGPU or its WebAssembly backend, as far as they have the
 * programs: no roll, no sort, no convolution in groups, no factorization of a stack.
 */

import { makeCase } from "./run.mjs";
import { causalMask, WINDOWS } from "./shared.mjs";

const FILES = new URL("../node_modules/@tensorflow/tfjs-backend-wasm/dist/", import.meta.url);

const IMAGES_LAST = [0, 2, 3, 1];
const IMAGES_FIRST = [0, 3, 1, 2];
const CHANNELS_LAST = { inputs: [IMAGES_LAST, [2, 3, 1, 0]], output: IMAGES_FIRST };

/** Convolutions use TensorFlow's own order of axes; reordering is not timed. */
const LAYOUTS = {
  conv2d: CHANNELS_LAST,
  conv2d_7x7s2: CHANNELS_LAST,
  conv2d_1x1: CHANNELS_LAST,
  conv2d_depthwise: { inputs: [IMAGES_LAST, [2, 3, 0, 1]], output: IMAGES_FIRST },
};

export async function open({ device, threads }) {
  const isCpu = device === "cpu";
  if (!isCpu) {
    globalThis.window ??= globalThis;
    globalThis.document ??= { createElement: () => ({ getContext: () => null }) };
  }
  const tf = await import(isCpu ? "./vendor/tfjs-wasm.mjs" : "./vendor/tfjs.mjs");
  if (isCpu) await useWasm(tf, threads);
  else tf.env().set("WEBGPU_CPU_FORWARD", false); // small tensors on the GPU, too
  const name = isCpu ? "wasm" : "webgpu";
  await tf.setBackend(name);
  await tf.ready();
  if (tf.getBackend() !== name) throw new Error(`backend is ${tf.getBackend()}`);
  if (threads > 1 && tf.getThreadsCount() !== threads) {
    throw new Error(`${tf.getThreadsCount()} threads instead of ${threads}`);
  }
  const backend = tf.backend();
  async function sync() {
    if (isCpu) return;
    backend.endComputePassEncoder();
    if (backend.commandEncoder) backend.submitQueue();
    await backend.device.queue.onSubmittedWorkDone();
  }
  const programs = { ...programsOf(tf), ...(isCpu ? ordersOf(tf) : {}) };
  let retained = [];

  return {
    name: "TF.js",
    isPeer: true,
    async cases(workload, inputs) {
      const program = programs[workload.program];
      if (!program) return [];
      const layout = LAYOUTS[workload.program];
      const data = inputs();
      const operands = workload.inputs.map((input, i) =>
        tf.tidy(() => {
          const given = tensorOf(tf, data[i], input);
          return layout ? tf.transpose(given, layout.inputs[i]) : given;
        }),
      );
      let last = null;
      retained = [...operands, { dispose: () => tf.dispose(last) }];
      const item = makeCase(workload, {
        name: `TF.js ${workload.program}`,
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
      });
      return [item];
    },
    end() {
      for (const tensor of retained) tensor.dispose();
      retained = [];
    },
  };
}

async function useWasm(tf, threads) {
  tf.setWasmPaths(FILES.href);
  if (threads === 1) return;
  // It uses at most half of the cores: with twice the number reported, it uses all.
  Object.defineProperty(navigator, "hardwareConcurrency", { value: 2 * threads });
  tf.setThreadsCount(threads);
}

/** The real and imaginary parts of complex numbers alternate in `values`. */
function tensorOf(tf, values, { shape, dtype }) {
  if (dtype !== "complex64") return tf.tensor(values, shape, dtype);
  const part = (first) => tf.tensor(values.filter((_, i) => i % 2 === first), shape);
  return tf.complex(part(0), part(1));
}

function programsOf(tf) {
  const strided = ({ stride, padding }) => (x, w) => tf.conv2d(x, w, stride, padding);
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
    conv2d: strided(WINDOWS.conv2d),
    conv2d_7x7s2: strided(WINDOWS.conv2d_7x7s2),
    argmax_rows: (x) => tf.argMax(x, 1),
    var_rows: (x) => tf.moments(x, 1).variance,
    logsumexp_rows: (x) => tf.logSumExp(x, 1),
    norm_rows: (x) => tf.norm(x, "euclidean", 1),
    sum_strided: (x) => tf.sum(tf.stridedSlice(x, [0, 0], x.shape, [1, 2]), 1),
    gelu: (x) => tf.mul(tf.mul(x, 0.5), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1)),
    conv2d_depthwise: (x, w) => tf.depthwiseConv2d(x, w, 1, "same"),
    conv2d_1x1: (x, w) => tf.conv2d(x, w, 1, "valid"),
    pairwise: (a, b) => tf.sum(tf.squaredDifference(a, b), -1),
    gray_scott: (u, v) => grayScott(tf, u, v),
    mandelbrot: (x, y) => mandelbrot(tf, x, y),
    attention: (q, k, v) => attention(tf, q, k, v, null),
    attention_causal: (q, k, v) => attention(tf, q, k, v, maskOf(tf, q.shape[1])),
    fft: (x) => tf.fft(x),
    fft2: (x) => tf.transpose(tf.fft(tf.transpose(tf.fft(x)))),
  };
}

/** There is no sort: `topk` of all elements, the largest first, is the nearest. */
function ordersOf(tf) {
  const ordered = (x) => tf.topk(tf.neg(x), x.shape[0], true);
  return { sort: (x) => tf.neg(ordered(x).values), argsort: (x) => ordered(x).indices };
}

function grayScott(tf, u, v) {
  const [rows, columns] = u.shape.map((length) => length - 2);
  const part = (x, row, column) => tf.slice(x, [row, column], [rows, columns]);
  function laplacian(x) {
    const neighbours = [part(x, 0, 1), part(x, 2, 1), part(x, 1, 0), part(x, 1, 2)];
    return tf.sub(tf.addN(neighbours), tf.mul(part(x, 1, 1), 4));
  }
  const [u0, v0] = [part(u, 1, 1), part(v, 1, 1)];
  const reaction = tf.mul(tf.mul(u0, v0), v0);
  const feed = tf.mul(tf.sub(1, u0), 0.035);
  const newU = tf.add(tf.sub(tf.add(u0, tf.mul(laplacian(u), 0.16)), reaction), feed);
  const grown = tf.add(tf.add(v0, tf.mul(laplacian(v), 0.08)), reaction);
  return [newU, tf.sub(grown, tf.mul(v0, 0.1))];
}

function mandelbrot(tf, x, y) {
  let [real, imaginary] = [tf.zerosLike(x), tf.zerosLike(y)];
  let count = tf.zeros([y.shape[0], x.shape[0]]);
  for (let step = 0; step < 48; step++) {
    const product = tf.mul(tf.mul(real, imaginary), 2);
    real = tf.add(tf.sub(tf.square(real), tf.square(imaginary)), x);
    imaginary = tf.add(product, y);
    const size = tf.add(tf.square(real), tf.square(imaginary));
    count = tf.add(count, tf.cast(tf.less(size, 4), "float32"));
  }
  return count;
}

function attention(tf, q, k, v, mask) {
  const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(q.shape[2]));
  return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
}

const masks = new Map(); // a program makes its mask once

function maskOf(tf, length) {
  if (!masks.has(length)) {
    masks.set(length, tf.keep(tf.tensor(causalMask(length), [length, length])));
  }
  return masks.get(length);
}
