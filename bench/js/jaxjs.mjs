/**
 * jax-js: its operations one by one, and through its `jit` where that differs. An
 * operation consumes its operands; `ref` retains one for another use.
 */

import * as instruments from "./instruments.mjs";
import { makeCase } from "./run.mjs";
import { WINDOWS } from "./shared.mjs";

const SOURCE = new URL("../node_modules/@jax-js/jax/dist/index.js", import.meta.url).href;

/** How each device is made to compute a result now, and how all of it is awaited. */
const DEVICES = {
  webgpu: {
    force: (x) => x.ref.gpuBuffer(), // nothing runs before it
    syncOf: ({ queue }) => () => queue.onSubmittedWorkDone(),
  },
  wasm: { force: (x) => x.blockUntilReady(), syncOf: () => () => {} },
};

/** Programs of several operations, which `jit` may fuse. */
const JITTED = new Set([
  ...["elem", "softmax", "layernorm", "increment"],
  ...["var_rows", "logsumexp_rows", "norm_rows", "sum_strided", "gelu"],
  ...["pairwise", "life", "heat", "gray_scott", "mandelbrot"],
  ...["attention", "attention_causal", "fft", "fft2"],
]);

/** Programs that gave no result, of 16 million elements on an H200 (2026-11-23). */
const MISSING = { webgpu: ["cumsum"], wasm: [] };

export async function open({ device: where }) {
  const device = where === "cpu" ? "wasm" : where;
  const jax = await import(SOURCE);
  const devices = await jax.init(device);
  if (!devices.includes(device)) throw new Error(`no ${device}, only ${devices}`);
  jax.defaultDevice(device);
  const { force, syncOf } = DEVICES[device];
  const sync = syncOf(instruments.newestDevice); // later libraries open other devices
  const programs = programsOf(jax);
  const { tree } = jax;
  let retained = [];

  function operandOf({ shape, dtype }, data) {
    const array = (values, type) =>
      jax.numpy.array(values, { dtype: jax.numpy[type] }).reshape(shape);
    if (dtype !== "complex64") return array(data, dtype);
    const part = (first) => array(data.filter((_, i) => i % 2 === first), "float32");
    return { real: part(0), imag: part(1) };
  }

  /** Returns the numbers of one array, of several, or of a complex pair. */
  async function numbersOf(result) {
    const parts = await Promise.all(tree.leaves(result).map((x) => x.ref.data()));
    if (parts.length === 1) return parts[0];
    const numbers = new Float32Array(parts.length * parts[0].length);
    parts.forEach((values, k) => {
      if ("imag" in result) values.forEach((value, i) => (numbers[2 * i + k] = value));
      else numbers.set(values, k * values.length);
    });
    return numbers;
  }

  function caseOf(workload, title, program, operands) {
    let last = null;
    retained.push({ dispose: () => tree.dispose(last) });
    return makeCase(workload, {
      name: `jax-js ${title}`,
      async run(count) {
        for (let i = 0; i < count; i++) {
          const isNext = workload.is_chained && i;
          if (!isNext) tree.dispose(last);
          last = isNext ? program(last) : program(...operands.map(tree.ref));
          for (const leaf of tree.leaves(last)) await force(leaf);
        }
      },
      sync,
      read: () => numbersOf(last),
    });
  }

  return {
    name: "jax-js",
    isPeer: true,
    async cases(workload, inputs) {
      const name = workload.program;
      const program = MISSING[device].includes(name) ? null : programs[name];
      if (!program) return [];
      const data = inputs();
      const operands = workload.inputs.map((input, i) => operandOf(input, data[i]));
      await jax.blockUntilReady(operands);
      retained.push({ dispose: () => tree.dispose(operands) });
      const found = [caseOf(workload, name, program, operands)];
      if (JITTED.has(name)) found.push(caseOf(workload, `${name} jit`, jax.jit(program), operands));
      return found;
    },
    end() {
      for (const item of retained) item.dispose();
      retained = [];
    },
  };
}

function programsOf(jax) {
  const { numpy: np, nn, lax } = jax;
  const strided = ({ stride, padding }) => {
    const padded = [padding, padding];
    return (x, w) => lax.convGeneralDilated(x, w, [stride, stride], [padded, padded]);
  };
  const grouped = (x, w) => {
    const padded = [w.shape[2] >> 1, w.shape[2] >> 1];
    const featureGroupCount = x.shape[1] / w.shape[1];
    return lax.convGeneralDilated(x, w, [1, 1], [padded, padded], { featureGroupCount });
  };
  // Composed, because `dotProductAttention` fails in Node before 22.
  const attention = (isCausal) => (q, k, v) => {
    const [, length, width] = q.shape;
    let scores = np.matmul(q, np.matrixTranspose(k)).mul(1 / Math.sqrt(width));
    if (isCausal) {
      const visible = np.tri(length, length, 0, { dtype: np.bool });
      scores = np.where(visible, scores, -Infinity);
    }
    return np.matmul(nn.softmax(scores, -1), v);
  };
  return {
    matmul: (a, b) => np.matmul(a, b),
    matmul_nt: (a, b) => np.matmul(a, np.matrixTranspose(b)),
    matmul_tn: (a, b) => np.matmul(np.matrixTranspose(a), b),
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
    // A transposition moves nothing until another operation reads it.
    transpose_copy: (x) => np.transpose(x).mul(1),
    sort: (x) => np.sort(x),
    argsort: (x) => np.argsort(x),
    argmax: (x) => np.argmax(x, 1),
    increment: (x) => x.add(1),
    conv2d: strided(WINDOWS.conv2d),
    conv2d_7x7s2: strided(WINDOWS.conv2d_7x7s2),
    argmax_rows: (x) => np.argmax(x, 1),
    var_rows: (x) => np.var_(x, 1),
    logsumexp_rows: (x) => nn.logsumexp(x, 1),
    norm_rows: (x) => np.linalg.vectorNorm(x, { axis: 1 }),
    // There are no strided slices: pairs of columns, and the first of each.
    sum_strided: (x) => x.reshape([x.shape[0], -1, 2]).slice([], [], 0).sum(1),
    gelu: (x) => nn.gelu(x, { approximate: false }),
    sort_rows: (x) => np.sort(x, 1),
    conv2d_grouped: grouped,
    conv2d_depthwise: grouped,
    conv2d_1x1: grouped,
    ...gridsOf(jax),
    attention: attention(false),
    attention_causal: attention(true),
    fft: (x) => np.fft.fft(x),
    fft2: (x) => np.fft.fft2(x),
    cholesky: (a) => np.linalg.cholesky(a),
    solve: (a, b) => np.linalg.solve(a, b),
    svd(a) {
      const [u, s, vh] = np.linalg.svd(a, { fullMatrices: false });
      return np.matmul(u.mul(np.expandDims(s, 1)), vh);
    },
    eigh(a) {
      const [values, vectors] = np.linalg.eigh(a);
      const scaled = vectors.ref.mul(np.expandDims(values, 1));
      return np.matmul(scaled, np.matrixTranspose(vectors));
    },
  };
}

function gridsOf({ numpy: np }) {
  const shifts = [-1, 0, 1].flatMap((i) => [-1, 0, 1].map((j) => [i, j]));
  const sum = (terms) => terms.reduce((total, term) => total.add(term));
  const inner = (x) => x.slice([1, -1], [1, -1]);

  /** The Laplacian of the elements with neighbours on every side; retains its operand. */
  function laplacian(x) {
    const [above, below] = [x.ref.slice([0, -2], [1, -1]), x.ref.slice([2], [1, -1])];
    const [left, right] = [x.ref.slice([1, -1], [0, -2]), x.ref.slice([1, -1], [2])];
    return sum([above, below, left, right]).sub(inner(x.ref).mul(4));
  }

  return {
    pairwise: (a, b) => np.square(a.sub(b)).sum(-1),
    life(x) {
      const neighbours = shifts.filter(([i, j]) => i || j);
      const count = sum(neighbours.map((shift) => np.roll(x.ref, shift, [0, 1])));
      const stays = x.equal(1).mul(count.ref.equal(2));
      return count.equal(3).add(stays).astype(np.int32);
    },
    heat(x) {
      const near = [[1, 0], [-1, 0], [1, 1], [-1, 1]];
      const total = sum(near.map(([shift, axis]) => np.roll(x.ref, shift, axis)));
      return x.ref.add(total.sub(x.mul(4)).mul(0.1));
    },
    gray_scott(u, v) {
      const [u0, v0] = [inner(u.ref), inner(v.ref)];
      const reaction = u0.ref.mul(v0.ref).mul(v0.ref);
      const feed = u0.ref.mul(-1).add(1).mul(0.035);
      const [spreadU, spreadV] = [laplacian(u).mul(0.16), laplacian(v).mul(0.08)];
      u.dispose();
      v.dispose();
      const newU = u0.add(spreadU).sub(reaction.ref).add(feed);
      return [newU, v0.ref.add(spreadV).add(reaction).sub(v0.mul(0.1))];
    },
    mandelbrot(x, y) {
      let [real, imaginary] = [np.zeros(x.shape), np.zeros(y.shape)];
      let count = np.zeros([y.shape[0], x.shape[0]]);
      for (let step = 0; step < 48; step++) {
        const product = real.ref.mul(imaginary.ref).mul(2);
        real = np.square(real).sub(np.square(imaginary)).add(x.ref);
        imaginary = product.add(y.ref);
        const size = np.square(real.ref).add(np.square(imaginary.ref));
        count = count.add(size.less(4).astype(np.float32));
      }
      for (const value of [x, y, real, imaginary]) value.dispose();
      return count;
    },
  };
}
