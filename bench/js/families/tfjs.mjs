/**
 * The second table's programs in TensorFlow.js, as far as its WebGPU backend has them: it
 * has no roll, no sort, no convolution in groups and no factorization of a stack.
 */

const STEPS = 48; // as in families.py

const IMAGES_LAST = [0, 2, 3, 1];
const IMAGES_FIRST = [0, 3, 1, 2];

/** Convolutions get and give TensorFlow's own order of axes. */
export const FAMILY_LAYOUTS = {
  conv2d_1x1: { inputs: [IMAGES_LAST, [2, 3, 1, 0]], output: IMAGES_FIRST },
  conv2d_depthwise: { inputs: [IMAGES_LAST, [2, 3, 0, 1]], output: IMAGES_FIRST },
};

export function familiesOf(tf) {
  return {
    argmax_rows: (x) => tf.argMax(x, 1),
    var_rows: (x) => tf.moments(x, 1).variance,
    logsumexp_rows: (x) => tf.logSumExp(x, 1),
    norm_rows: (x) => tf.norm(x, "euclidean", 1),
    sum_strided: (x) => tf.sum(tf.stridedSlice(x, [0, 0], x.shape, [1, 2]), 1),
    gelu(x) {
      const share = tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1);
      return tf.mul(tf.mul(x, 0.5), share);
    },
    conv2d_depthwise: (x, w) => tf.depthwiseConv2d(x, w, 1, "same"),
    conv2d_1x1: (x, w) => tf.conv2d(x, w, 1, "valid"),
    pairwise: (a, b) => tf.sum(tf.squaredDifference(a, b), -1),
    gray_scott: (u, v) => grayScott(tf, u, v),
    mandelbrot: (x, y) => mandelbrot(tf, x, y),
    attention: (q, k, v) => attention(tf, q, k, v, null),
    attention_causal: (q, k, v) => attention(tf, q, k, v, unseen(tf, q.shape[1])),
    fft: (x) => tf.fft(x),
    fft2(x) {
      const turned = tf.transpose(tf.fft(x));
      return tf.transpose(tf.fft(turned));
    },
  };
}

function grayScott(tf, u, v) {
  const [rows, columns] = u.shape.map((length) => length - 2);
  const part = (x, row, column) => tf.slice(x, [row, column], [rows, columns]);
  function spread(x) {
    const around = [part(x, 0, 1), part(x, 2, 1), part(x, 1, 0), part(x, 1, 2)];
    return tf.sub(tf.addN(around), tf.mul(part(x, 1, 1), 4));
  }
  const [u0, v0] = [part(u, 1, 1), part(v, 1, 1)];
  const reaction = tf.mul(tf.mul(u0, v0), v0);
  const feed = tf.mul(tf.sub(1, u0), 0.035);
  const newU = tf.add(tf.sub(tf.add(u0, tf.mul(spread(u), 0.16)), reaction), feed);
  const grown = tf.add(tf.add(v0, tf.mul(spread(v), 0.08)), reaction);
  return [newU, tf.sub(grown, tf.mul(v0, 0.1))];
}

function mandelbrot(tf, x, y) {
  let real = tf.zerosLike(x);
  let imaginary = tf.zerosLike(y);
  let count = tf.zeros([y.shape[0], x.shape[0]]);
  for (let step = 0; step < STEPS; step++) {
    const product = tf.mul(tf.mul(real, imaginary), 2);
    real = tf.add(tf.sub(tf.square(real), tf.square(imaginary)), x);
    imaginary = tf.add(product, y);
    const size = tf.add(tf.square(real), tf.square(imaginary));
    count = tf.add(count, tf.cast(tf.less(size, 4), "float32"));
  }
  return count;
}

/** `mask` is added to the scores. */
function attention(tf, q, k, v, mask) {
  const scores = tf.mul(tf.matMul(q, k, false, true), 1 / Math.sqrt(q.shape[2]));
  return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
}

const masks = new Map();

/** A program makes its mask once: minus a billion where a key lies behind its query. */
function unseen(tf, length) {
  if (!masks.has(length)) {
    const places = tf.range(0, length);
    const isBehind = tf.greater(tf.expandDims(places, 0), tf.expandDims(places, 1));
    masks.set(length, tf.keep(tf.mul(tf.cast(isBehind, "float32"), -1e9)));
  }
  return masks.get(length);
}
