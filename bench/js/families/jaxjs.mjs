/**
 * The second table's programs in jax-js. An operation consumes its operands; `ref` keeps
 * one for another use.
 */

/** Programs of several operations, which `jit` may fuse. */
export const JITTED = new Set([
  ...["var_rows", "logsumexp_rows", "norm_rows", "sum_strided", "gelu"],
  ...["pairwise", "life", "heat", "gray_scott", "mandelbrot"],
  ...["attention", "attention_causal", "fft", "fft2"],
]);

const STEPS = 48; // as in families.py

export function familiesOf(jax) {
  const { numpy: np, nn } = jax;
  return {
    argmax_rows: (x) => np.argmax(x, 1),
    var_rows: (x) => np.var_(x, 1),
    logsumexp_rows: (x) => nn.logsumexp(x, 1),
    norm_rows: (x) => np.linalg.vectorNorm(x, { axis: 1 }),
    // There are no strided slices: pairs of columns, and the first of each.
    sum_strided: (x) => x.reshape([x.shape[0], -1, 2]).slice([], [], 0).sum(1),
    gelu: (x) => nn.gelu(x, { approximate: false }),
    sort_rows: (x) => np.sort(x, 1),
    fft: (x) => np.fft.fft(x),
    fft2: (x) => np.fft.fft2(x),
    ...convolutionsOf(jax),
    ...picturesOf(jax),
    ...attentionOf(jax),
    ...factorizationsOf(jax),
  };
}

function convolutionsOf({ lax }) {
  function convolution(x, w) {
    const border = w.shape[2] >> 1;
    const around = [border, border];
    const featureGroupCount = x.shape[1] / w.shape[1];
    return lax.convGeneralDilated(x, w, [1, 1], [around, around], { featureGroupCount });
  }
  return {
    conv2d_grouped: convolution,
    conv2d_depthwise: convolution,
    conv2d_1x1: convolution,
  };
}

function picturesOf({ numpy: np }) {
  const shifts = [-1, 0, 1].flatMap((i) => [-1, 0, 1].map((j) => [i, j]));
  const around = shifts.filter(([i, j]) => i || j);
  const sum = (terms) => terms.reduce((total, term) => total.add(term));
  const inner = (x) => x.slice([1, -1], [1, -1]);

  /** The Laplacian of what has neighbours on every side; keeps its operand. */
  function spread(x) {
    const [above, below] = [x.ref.slice([0, -2], [1, -1]), x.ref.slice([2], [1, -1])];
    const [left, right] = [x.ref.slice([1, -1], [0, -2]), x.ref.slice([1, -1], [2])];
    return sum([above, below, left, right]).sub(inner(x.ref).mul(4));
  }

  return {
    pairwise: (a, b) => np.square(a.sub(b)).sum(-1),
    life(x) {
      const count = sum(around.map((shift) => np.roll(x.ref, shift, [0, 1])));
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
      const spreadU = spread(u).mul(0.16);
      const spreadV = spread(v).mul(0.08);
      u.dispose();
      v.dispose();
      const newU = u0.add(spreadU).sub(reaction.ref).add(feed);
      return [newU, v0.ref.add(spreadV).add(reaction).sub(v0.mul(0.1))];
    },
    mandelbrot(x, y) {
      let real = np.zeros(x.shape);
      let imaginary = np.zeros(y.shape);
      let count = np.zeros([y.shape[0], x.shape[0]]);
      for (let step = 0; step < STEPS; step++) {
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

/** Composed, because `dotProductAttention` fails in Node before 22. */
function attentionOf({ numpy: np, nn }) {
  const attention = (isCausal) => (q, k, v) => {
    const [, length, width] = q.shape;
    let scores = np.matmul(q, np.matrixTranspose(k)).mul(1 / Math.sqrt(width));
    if (isCausal) {
      const seen = np.tri(length, length, 0, { dtype: np.bool });
      scores = np.where(seen, scores, -Infinity);
    }
    return np.matmul(nn.softmax(scores, -1), v);
  };
  return { attention: attention(false), attention_causal: attention(true) };
}

function factorizationsOf({ numpy: np }) {
  return {
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
