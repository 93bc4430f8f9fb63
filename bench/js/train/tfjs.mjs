/** The training steps in TensorFlow.js: `minimize` of its own Adam. */

import { ADAM, HEADS, SLOPE, WIDTH } from "./constants.mjs";

export const name = "TF.js minimize";

export async function open() {
  globalThis.window ??= globalThis;
  globalThis.document ??= { createElement: () => ({ getContext: () => null }) };
  const tf = await import("../vendor/tfjs.mjs");
  tf.env().set("WEBGPU_CPU_FORWARD", false); // small tensors on the GPU as well
  await tf.setBackend("webgpu");
  await tf.ready();
  if (tf.getBackend() !== "webgpu") throw new Error(`backend is ${tf.getBackend()}`);
  return (network, values) => trainer(tf, network, values);
}

function trainer(tf, network, { parameters, x, y }) {
  const p = {};
  for (const { name, shape } of network.parameters) {
    p[name] = tf.tidy(() => tf.variable(ordered(tf, name, tf.tensor(parameters[name], shape))));
  }
  const { inputs, labels } = network;
  const isText = inputs.kinds > 0;
  const given = tf.tidy(() => {
    const tensor = tf.tensor(x, inputs.shape, isText ? "int32" : "float32");
    return tensor.rank === 4 ? tf.transpose(tensor, [0, 2, 3, 1]) : tensor;
  });
  const wanted = tf.tidy(() =>
    tf.cast(tf.oneHot(tf.tensor(y, labels.shape, "int32"), labels.kinds), "float32"),
  );
  const loss = lossOf(tf, network, p, given, wanted);
  const adam = tf.train.adam(ADAM.rate, ADAM.first, ADAM.second, ADAM.eps);
  const backend = tf.backend();
  let last = null;
  return {
    run(count) {
      for (let i = 0; i < count; i++) {
        last?.dispose();
        last = adam.minimize(loss, true);
      }
    },
    async sync() {
      backend.endComputePassEncoder();
      if (backend.commandEncoder) backend.submitQueue();
      await backend.device.queue.onSubmittedWorkDone();
    },
    loss: async () => (await last.data())[0],
    end() {
      for (const tensor of [last, given, wanted, ...Object.values(p)]) tensor?.dispose();
      adam.dispose();
    },
  };
}

/** Puts channels last, TensorFlow's own order, also in the layer that reads images. */
function ordered(tf, name, tensor) {
  if (name === "c1" || name === "c2") return tf.transpose(tensor, [2, 3, 1, 0]);
  if (name === "d1" || name === "d2") return tf.reshape(tensor, [-1]);
  if (name !== "w") return tensor;
  const places = tf.reshape(tensor, [32, 7, 7, -1]);
  return tf.reshape(tf.transpose(places, [1, 2, 0, 3]), [32 * 49, -1]);
}

/** Returns a function of nothing: the loss on the data. */
function lossOf(tf, { name, layers, inputs }, p, x, y) {
  const [batch, length] = inputs.shape;
  const entropy = (z) => tf.losses.softmaxCrossEntropy(y, z);
  const linear = (x, w, b) => tf.add(tf.matMul(x, w), b);
  const pool = (x) => tf.maxPool(x, 2, 2, "valid");
  const convolved = (x, w, b) => tf.relu(tf.add(tf.conv2d(x, w, 1, "same"), b));
  const gelu = (x) => {
    const cube = tf.mul(tf.mul(tf.square(x), x), 0.044715);
    return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(tf.mul(tf.add(x, cube), SLOPE)), 1));
  };
  const norm = (x, scale, shift) => {
    const { mean, variance } = tf.moments(x, -1, true);
    const centred = tf.div(tf.sub(x, mean), tf.sqrt(tf.add(variance, 1e-5)));
    return tf.add(tf.mul(centred, scale), shift);
  };
  if (name === "train_mlp") {
    return () => entropy(linear(tf.relu(linear(x, p.w1, p.b1)), p.w2, p.b2));
  }
  if (name === "train_cnn") {
    return () => {
      const small = pool(convolved(pool(convolved(x, p.c1, p.d1)), p.c2, p.d2));
      return entropy(linear(tf.reshape(small, [batch, 32 * 49]), p.w, p.b));
    };
  }
  const later = Float32Array.from({ length: length * length }, (_, i) =>
    i % length <= Math.floor(i / length) ? 0 : -1e9,
  );
  const mask = tf.tensor(later, [length, length]);
  const each = WIDTH / HEADS;
  const attention = (qkv) => {
    const heads = (part) =>
      tf.transpose(tf.reshape(part, [batch, length, HEADS, each]), [0, 2, 1, 3]);
    const [q, k, v] = tf.split(qkv, 3, 1).map(heads);
    const scores = tf.add(tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(each)), mask);
    const gathered = tf.transpose(tf.matMul(tf.softmax(scores), v), [0, 2, 1, 3]);
    return tf.reshape(gathered, [batch * length, WIDTH]);
  };
  return () => {
    const letters = tf.reshape(tf.gather(p.letters, tf.reshape(x, [-1])), [batch, length, WIDTH]);
    let h = tf.reshape(tf.add(letters, p.places), [batch * length, WIDTH]);
    for (let i = 0; i < layers; i++) {
      const of = (part) => p[`${part}_${i}`];
      const a = norm(h, of("scale1"), of("shift1"));
      h = tf.add(h, linear(attention(linear(a, of("qkv"), of("qkv_b"))), of("out"), of("out_b")));
      const b = norm(h, of("scale2"), of("shift2"));
      h = tf.add(h, linear(gelu(linear(b, of("up"), of("up_b"))), of("down"), of("down_b")));
    }
    return entropy(tf.matMul(norm(h, p.scale, p.shift), p.head));
  };
}
