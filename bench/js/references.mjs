/** How the convolutions' windows lie. */
export const WINDOWS = {
  conv2d: { stride: 1, padding: 1 },
  conv2d_7x7s2: { stride: 2, padding: 3 },
};

/**
 * What each program's result is in float64. A reference takes a workload and its
 * operands and returns a function from a place in the row-major result to its value and
 * the scale by which an error is divided.
 */
export const REFERENCES = {
  matmul: (workload, inputs) => product(workload, inputs, false, false),
  matmul_nt: (workload, inputs) => product(workload, inputs, false, true),
  matmul_tn: (workload, inputs) => product(workload, inputs, true, false),
  matvec: ({ inputs: [{ shape }] }, [matrix, vector]) => (row) => {
    const columns = shape[1];
    return dot(columns, (k) => matrix[row * columns + k] * vector[k]);
  },
  elem: (_, [x]) => (place) => exact(Math.exp(-x[place] * x[place]) * 2 + 1),
  sum: (_, [x]) => () => dot(x.length, (k) => x[k]),
  rowsum: ({ inputs: [{ shape }] }, [x]) => (row) =>
    dot(shape[1], (k) => x[row * shape[1] + k]),
  colsum: ({ inputs: [{ shape }] }, [x]) => (column) =>
    dot(shape[0], (k) => x[k * shape[1] + column]),
  softmax: ({ inputs: [{ shape }] }, [x]) => (place) => {
    const row = rowOf(x, place, shape[1]);
    const largest = row.reduce((a, b) => Math.max(a, b));
    const sum = row.reduce((a, b) => a + Math.exp(b - largest), 0);
    return exact(Math.exp(x[place] - largest) / sum);
  },
  layernorm: ({ inputs: [{ shape }] }, [x]) => (place) => {
    const row = rowOf(x, place, shape[1]);
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length;
    return { value: (x[place] - mean) / Math.sqrt(variance + 1e-5), scale: 1 };
  },
  cumsum: (_, [x]) => prefixSums(x),
  gather: ({ inputs: [{ shape }] }, [table, indices]) => {
    const width = shape[1] ?? 1;
    return (place) => {
      const row = indices[Math.floor(place / width)];
      return exact(table[row * width + (place % width)]);
    };
  },
  scatter_add: ({ inputs: [{ shape }] }, [table, indices, values]) => {
    const sums = once(values, () => sumsAtRows(table, indices, values, shape[1] ?? 1));
    return (place) => ({ value: sums.values[place], scale: sums.sizes[place] });
  },
  transpose_copy: ({ output: [rows, columns] }, [x]) => (place) =>
    exact(x[(place % columns) * rows + Math.floor(place / columns)]),
  sort: (_, [x]) => {
    const values = once(x, () => x.slice().sort());
    return (place) => exact(values[place]);
  },
  argsort: (_, [x]) => {
    const places = once(x, () => Int32Array.from(x.keys()).sort((i, j) => x[i] - x[j] || i - j));
    return (place) => exact(places[place]);
  },
  argmax: ({ inputs: [{ shape }] }, [x]) => (place) => {
    const row = rowOf(x, place * shape[1], shape[1]);
    return exact(row.indexOf(row.reduce((a, b) => Math.max(a, b))));
  },
  increment: (_, [x]) => (place) => ({ value: x[place] + 1, scale: 1 }),
  conv2d: (workload, inputs) => convolution(workload, inputs, WINDOWS.conv2d),
  conv2d_7x7s2: (workload, inputs) => convolution(workload, inputs, WINDOWS.conv2d_7x7s2),
};

function exact(value) {
  return { value, scale: Math.abs(value) };
}

/** Sums terms; the scale is the sum of their magnitudes. */
function dot(length, term) {
  let value = 0;
  let scale = 0;
  for (let k = 0; k < length; k++) {
    const part = term(k);
    value += part;
    scale += Math.abs(part);
  }
  return { value, scale };
}

/** `(batch, m, k)·(batch, k, n)`; a transposed operand is stored with its axes swapped. */
function product({ inputs, output }, [a, b], isLeftTurned, isRightTurned) {
  const [m, n] = output.slice(-2);
  const left = inputs[0].shape;
  const k = isLeftTurned ? left.at(-2) : left.at(-1);
  return (place) => {
    const batch = Math.floor(place / (m * n));
    const row = Math.floor(place / n) % m;
    const column = place % n;
    const [aStart, bStart] = [batch * m * k, batch * k * n];
    return dot(k, (i) => {
      const x = a[aStart + (isLeftTurned ? i * m + row : row * k + i)];
      const y = b[bStart + (isRightTurned ? column * k + i : i * n + column)];
      return x * y;
    });
  };
}

/** `(n, c, h, w)` images with `(o, c, kh, kw)` weights; zeros around the images. */
function convolution({ inputs, output }, [images, weights], { stride, padding }) {
  const [, channels, height, width] = inputs[0].shape;
  const [, , kernelHeight, kernelWidth] = inputs[1].shape;
  const [, filters, rows, columns] = output;
  const window = kernelHeight * kernelWidth;
  return (place) => {
    const left = (place % columns) * stride - padding;
    const top = (Math.floor(place / columns) % rows) * stride - padding;
    const filter = Math.floor(place / (columns * rows)) % filters;
    const image = Math.floor(place / (columns * rows * filters));
    return dot(channels * window, (k) => {
      const channel = Math.floor(k / window);
      const y = top + (Math.floor(k / kernelWidth) % kernelHeight);
      const x = left + (k % kernelWidth);
      if (y < 0 || y >= height || x < 0 || x >= width) return 0;
      const pixel = images[((image * channels + channel) * height + y) * width + x];
      return pixel * weights[filter * channels * window + k];
    });
  };
}

/** Adds rows to rows of a table, and their magnitudes to those of the table. */
function sumsAtRows(table, indices, rows, width) {
  const values = Float64Array.from(table);
  const sizes = values.map(Math.abs);
  for (let i = 0; i < rows.length; i++) {
    const place = indices[Math.floor(i / width)] * width + (i % width);
    values[place] += rows[i];
    sizes[place] += Math.abs(rows[i]);
  }
  return { values, sizes };
}

const known = new WeakMap();

/** Several implementations are checked against one reference that is slow to make. */
function once(operand, make) {
  if (!known.has(operand)) known.set(operand, make());
  return known.get(operand);
}

function rowOf(x, place, width) {
  const start = place - (place % width);
  return Array.from(x.subarray(start, start + width));
}

/** Places come in rising order, so one pass over the operand is enough. */
function prefixSums(x) {
  let sum = 0;
  let next = 0;
  return (place) => {
    for (; next <= place; next++) sum += x[next];
    return exact(sum);
  };
}
