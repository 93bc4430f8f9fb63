/** The training steps in jax-js: gradients and Adam inside one `jit`. */

import * as instruments from "../instruments.mjs";
import { ADAM, corrections, HEADS, SLOPE, WIDTH } from "./constants.mjs";

export const name = "jax-js jit";

/** `modules` is the address of a folder of npm packages. */
export async function open({ modules }) {
  const jax = await import(new URL("@jax-js/jax/dist/index.js", modules).href);
  if (!(await jax.init("webgpu")).includes("webgpu")) throw new Error("no webgpu");
  jax.defaultDevice("webgpu");
  const { queue } = instruments.newestDevice;
  return (network, values) => trainer(jax, queue, network, values);
}

async function trainer(jax, queue, network, { parameters, x, y }) {
  const { numpy: np, nn } = jax;
  const made = (make) =>
    Object.fromEntries(network.parameters.map((row) => [row.name, make(row)]));
  let p = made(({ name, shape }) => np.array(parameters[name]).reshape(shape));
  let m = made(({ shape }) => np.zeros(shape));
  let v = made(({ shape }) => np.zeros(shape));
  const { inputs, labels } = network;
  const given = inputs.kinds ? np.array(x, { dtype: np.int32 }) : np.array(x);
  const wanted = nn.oneHot(np.array(y, { dtype: np.int32 }), labels.kinds);
  const images = given.reshape(inputs.shape);
  const loss = lossOf(jax, network);

  const update = jax.jit((p, m, v, x, y, first, second) => {
    const [value, gradients] = jax.valueAndGrad(loss)(jax.tree.ref(p), x, y);
    const next = { p: {}, m: {}, v: {} };
    for (const name of Object.keys(p)) {
      const g = gradients[name];
      next.m[name] = m[name].mul(ADAM.first).add(g.ref.mul(1 - ADAM.first));
      next.v[name] = v[name].mul(ADAM.second).add(np.square(g).mul(1 - ADAM.second));
      const mean = next.m[name].ref.mul(first.ref);
      const scale = np.sqrt(next.v[name].ref.mul(second.ref)).add(ADAM.eps);
      next.p[name] = p[name].sub(mean.div(scale).mul(ADAM.rate));
    }
    first.dispose();
    second.dispose();
    return [value, next.p, next.m, next.v];
  });

  let step = 0;
  let last = null;
  return {
    /** Waits for each step, as a program must whose graphs shall not grow. */
    async run(count) {
      for (let i = 0; i < count; i++) {
        const [first, second] = corrections((step += 1)).map((number) => np.array([number]));
        last?.dispose();
        [last, p, m, v] = update(p, m, v, images.ref, wanted.ref, first, second);
        const results = [last, ...[p, m, v].flatMap((tree) => Object.values(tree))];
        await jax.blockUntilReady(results.map((array) => array.ref));
      }
    },
    sync: () => queue.onSubmittedWorkDone(),
    loss: async () => (await last.ref.data())[0],
    end() {
      last?.dispose();
      for (const tree of [p, m, v]) for (const array of Object.values(tree)) array.dispose();
      images.dispose();
      wanted.dispose();
    },
  };
}

/** Returns the loss of parameters, inputs and labels in rows of zeros and a one. */
function lossOf({ numpy: np, nn, lax }, { name, layers, inputs }) {
  const [batch, length] = inputs.shape;
  const entropy = (z, y) => nn.logSoftmax(z).mul(y).sum().mul(-1 / y.shape[0]);
  const pool = (x) => lax.reduceWindow(x, np.max, [2, 2], [2, 2]);
  const convolved = (x, w, b) => nn.relu(lax.convGeneralDilated(x, w, [1, 1], "SAME").add(b));
  const gelu = (x) => {
    const cube = np.square(x.ref).mul(x.ref).mul(0.044715);
    return np.tanh(x.ref.add(cube).mul(SLOPE)).add(1).mul(x).mul(0.5);
  };
  const norm = (x, scale, shift) => {
    const centred = x.ref.sub(np.mean(x, -1, { keepdims: true }));
    const variance = np.mean(np.square(centred.ref), -1, { keepdims: true });
    return centred.div(np.sqrt(variance.add(1e-5))).mul(scale).add(shift);
  };
  if (name === "train_mlp") {
    return (p, x, y) => {
      const hidden = nn.relu(np.matmul(x, p.w1).add(p.b1));
      return entropy(np.matmul(hidden, p.w2).add(p.b2), y);
    };
  }
  if (name === "train_cnn") {
    return (p, x, y) => {
      const small = pool(convolved(pool(convolved(x, p.c1, p.d1)), p.c2, p.d2));
      return entropy(np.matmul(small.reshape([batch, 32 * 49]), p.w).add(p.b), y);
    };
  }
  const later = Float32Array.from({ length: length * length }, (_, i) =>
    i % length <= Math.floor(i / length) ? 0 : -1e9,
  );
  const mask = np.array(later).reshape([length, length]);
  const each = WIDTH / HEADS;
  const attention = (qkv) => {
    const parts = qkv.reshape([batch, length, 3, HEADS, each]);
    const part = (i) => parts.ref.slice([], [], i).transpose([0, 2, 1, 3]);
    const [q, k, v] = [part(0), part(1), part(2)];
    parts.dispose();
    const scores = np.matmul(q, np.matrixTranspose(k)).mul(1 / Math.sqrt(each)).add(mask.ref);
    const gathered = np.matmul(nn.softmax(scores, -1), v);
    return gathered.transpose([0, 2, 1, 3]).reshape([batch * length, WIDTH]);
  };
  return (p, x, y) => {
    let h = np.take(p.letters, x, 0).add(p.places).reshape([batch * length, WIDTH]);
    for (let i = 0; i < layers; i++) {
      const of = (part) => p[`${part}_${i}`];
      const a = norm(h.ref, of("scale1"), of("shift1"));
      const heard = attention(np.matmul(a, of("qkv")).add(of("qkv_b")));
      h = h.add(np.matmul(heard, of("out")).add(of("out_b")));
      const b = norm(h.ref, of("scale2"), of("shift2"));
      const wide = gelu(np.matmul(b, of("up")).add(of("up_b")));
      h = h.add(np.matmul(wide, of("down")).add(of("down_b")));
    }
    return entropy(np.matmul(norm(h, p.scale, p.shift), p.head), y);
  };
}
