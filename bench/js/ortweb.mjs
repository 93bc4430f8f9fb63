/**
 * ONNX Runtime Web on its WebGPU or its WebAssembly provider: a model of a few nodes for
 * each workload, protobuf by hand after
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
 */

import { makeCase } from "./run.mjs";
import { WINDOWS } from "./shared.mjs";

const DIST = new URL("../node_modules/onnxruntime-web/dist/", import.meta.url);
const WASM = "ort-wasm-simd-threaded.asyncify.wasm";

/** Opens a provider; on the GPU results stay there. */
export async function open({ device, threads = 1, read }) {
  const isCpu = device === "cpu";
  globalThis.self ??= globalThis;
  const ort = await import(new URL(isCpu ? "ort.wasm.min.mjs" : "ort.webgpu.min.mjs", DIST).href);
  ort.env.wasm.numThreads = threads;
  ort.env.wasm.wasmPaths = DIST.href;
  ort.env.logLevel = "error";
  if (!isCpu) {
    ort.env.wasm.wasmBinary = (await read(new URL(WASM, DIST))).buffer;
    ort.env.webgpu.powerPreference = "high-performance";
  }
  const graphs = isCpu ? CPU_GRAPHS : GRAPHS;
  const provider = isCpu
    ? { executionProviders: ["wasm"] }
    : { executionProviders: ["webgpu"], preferredOutputLocation: "gpu-buffer" };
  let release = async () => {};

  async function cases(workload, inputs) {
    const data = inputs();
    const model = modelOf(workload, data, graphs);
    if (!model) return [];
    const options = { ...provider, graphOptimizationLevel: "all" };
    const session = await ort.InferenceSession.create(model.bytes, options);
    if (isCpu && ort.env.wasm.numThreads !== threads) {
      throw new Error(`${ort.env.wasm.numThreads} threads instead of ${threads}`);
    }
    const gpu = isCpu ? null : await ort.env.webgpu.device;
    const buffers = [];
    const feeds = {};
    for (const [i, name] of model.names.entries()) {
      const { shape, dtype } = workload.inputs[i];
      if (isCpu) feeds[name] = new ort.Tensor(dtype, data[i], shape);
      else {
        buffers.push(upload(gpu, data[i]));
        feeds[name] = ort.Tensor.fromGpuBuffer(buffers.at(-1), { dataType: dtype, dims: shape });
      }
    }
    let last = null;
    release = async () => {
      if (!isCpu) last?.dispose();
      await session.release();
      for (const buffer of buffers) buffer.destroy();
      release = async () => {};
    };
    const item = makeCase(workload, {
      name: `ONNX Runtime Web ${workload.program}`,
      async run(count) {
        for (let i = 0; i < count; i++) {
          const given = workload.is_chained && i ? { a: last } : feeds;
          if (!isCpu) last?.dispose();
          last = (await session.run(given, ["y"])).y;
        }
      },
      sync: () => gpu?.queue.onSubmittedWorkDone(),
      async read() {
        const values = last.location === "gpu-buffer" ? await last.getData() : last.data;
        return Array.from(values, Number);
      },
    });
    return [item];
  }

  return { name: "ONNX Runtime Web", isPeer: true, cases, end: () => release() };
}

function upload(device, values) {
  const { STORAGE, COPY_SRC, COPY_DST } = globalThis.GPUBufferUsage;
  const size = Math.max(16, values.byteLength);
  const buffer = device.createBuffer({ size, usage: STORAGE | COPY_SRC | COPY_DST });
  device.queue.writeBuffer(buffer, 0, values);
  return buffer;
}

const OPSET = 17;
const IR_VERSION = 8;
const FLOAT = 1;
const INT32 = 6;
const INT64 = 7;
const TYPES = { float32: FLOAT, int32: INT32 };

const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_STRING = 3;
const ATTRIBUTE_INTS = 7;

/** Returns the model of a workload as `{bytes, names}` of fed operands, null without one. */
function modelOf(workload, data, graphs) {
  const graph = graphs[workload.program]?.(workload, data);
  if (!graph) return null;
  const names = ["a", "b", "c"].slice(0, graph.fed ?? workload.inputs.length);
  const inputs = names.map((name, i) => {
    const { shape, dtype } = workload.inputs[i];
    return part(11, valueInfo(name, shape, TYPES[dtype]));
  });
  const bytes = part(7, [
    ...graph.nodes.flatMap((node) => part(1, node)),
    ...text(2, workload.name),
    ...(graph.constants ?? []).flatMap((constant) => part(5, constant)),
    ...inputs.flat(),
    ...part(12, valueInfo("y", workload.output, graph.type ?? FLOAT)),
  ]);
  const opset = part(8, [...text(1, ""), ...integer(2, OPSET)]);
  return { bytes: new Uint8Array([...integer(1, IR_VERSION), ...bytes, ...opset]), names };
}

const single = (name, attributes) => () => ({
  nodes: [node(name, ["a"], "y", attributes)],
});

const ADDS = word("reduction", "add");

const GRAPHS = {
  matmul: () => ({ nodes: [node("MatMul", ["a", "b"], "y")] }),
  matvec: () => ({ nodes: [node("MatMul", ["a", "b"], "y")] }),
  matmul_nt: () => ({ nodes: [node("Gemm", ["a", "b"], "y", [flag("transB", 1)])] }),
  matmul_tn: () => ({ nodes: [node("Gemm", ["a", "b"], "y", [flag("transA", 1)])] }),
  elem: () => ({
    nodes: [
      node("Mul", ["a", "a"], "squared"),
      node("Neg", ["squared"], "negative"),
      node("Exp", ["negative"], "bell"),
      node("Mul", ["bell", "two"], "doubled"),
      node("Add", ["doubled", "one"], "y"),
    ],
    constants: [scalar("two", 2), scalar("one", 1)],
  }),
  sum: () => sumOver(0),
  rowsum: () => sumOver(1),
  colsum: () => sumOver(0),
  softmax: single("Softmax", [flag("axis", -1)]),
  layernorm: ({ inputs: [{ shape }] }) => ({
    nodes: [
      node("LayerNormalization", ["a", "scale", "bias"], "y", [
        flag("axis", -1),
        fraction("epsilon", 1e-5),
      ]),
    ],
    constants: [vector("scale", shape[1], 1), vector("bias", shape[1], 0)],
  }),
  cumsum: () => ({
    nodes: [node("CumSum", ["a", "axis"], "y")],
    constants: [tensor("axis", [], INT64, int64(0))],
  }),
  gather: () => ({ nodes: [node("Gather", ["a", "b"], "y", [flag("axis", 0)])] }),
  // `ScatterND` takes the indices of rows as int64 vectors.
  scatter_add: ({ inputs: [{ shape }] }) =>
    shape.length === 1
      ? { nodes: [node("ScatterElements", ["a", "b", "c"], "y", [ADDS])] }
      : {
          nodes: [
            node("Cast", ["b"], "wide", [flag("to", INT64)]),
            node("Unsqueeze", ["wide", "axes"], "rows"),
            node("ScatterND", ["a", "rows", "c"], "y", [ADDS]),
          ],
          constants: [tensor("axes", [1], INT64, int64(1))],
        },
  transpose_copy: single("Transpose", []),
  conv2d: (workload, data) => convolution(workload, data, WINDOWS.conv2d),
  conv2d_7x7s2: (workload, data) => convolution(workload, data, WINDOWS.conv2d_7x7s2),
};

/** The CPU also has sorts and argmax. */
const CPU_GRAPHS = {
  ...GRAPHS,
  argmax: () => ({
    nodes: [node("ArgMax", ["a"], "y", [flag("axis", 1), flag("keepdims", 0)])],
    type: INT64,
  }),
  increment: () => ({
    nodes: [node("Add", ["a", "one"], "y")],
    constants: [scalar("one", 1)],
  }),
  sort: (workload) => ordered(workload, ["y", "indices"]),
  argsort: (workload) => ({ ...ordered(workload, ["values", "y"]), type: INT64 }),
};

/** All values and their indices, the smallest first. */
function ordered({ inputs: [{ shape }] }, outputs) {
  return {
    nodes: [node("TopK", ["a", "count"], outputs, [flag("largest", 0)])],
    constants: [tensor("count", [1], INT64, int64(shape[0]))],
  };
}

/** Weights are constants of the model, as they are in a network. */
function convolution({ inputs: [, { shape }] }, [, weights], { stride, padding }) {
  const attributes = [
    flags("kernel_shape", shape.slice(2)),
    flags("strides", [stride, stride]),
    flags("pads", [padding, padding, padding, padding]),
  ];
  return {
    fed: 1,
    nodes: [node("Conv", ["a", "b"], "y", attributes)],
    constants: [tensor("b", shape, FLOAT, bytesOf(weights))],
  };
}

function sumOver(axis) {
  return {
    nodes: [node("ReduceSum", ["a", "axes"], "y", [flag("keepdims", 0)])],
    constants: [tensor("axes", [1], INT64, int64(axis))],
  };
}

function node(operator, inputs, outputs, attributes = []) {
  return [
    ...inputs.flatMap((name) => text(1, name)),
    ...[outputs].flat().flatMap((name) => text(2, name)),
    ...text(4, operator),
    ...attributes.flatMap((attribute) => part(5, attribute)),
  ];
}

function word(name, value) {
  return [...text(1, name), ...text(4, value), ...integer(20, ATTRIBUTE_STRING)];
}

function flag(name, value) {
  return [...text(1, name), ...integer(3, value), ...integer(20, ATTRIBUTE_INT)];
}

function flags(name, values) {
  const numbers = values.flatMap((value) => integer(8, value));
  return [...text(1, name), ...numbers, ...integer(20, ATTRIBUTE_INTS)];
}

function fraction(name, value) {
  return [...text(1, name), ...float32(2, value), ...integer(20, ATTRIBUTE_FLOAT)];
}

function scalar(name, value) {
  return tensor(name, [], FLOAT, bytesOf(new Float32Array([value])));
}

function vector(name, length, value) {
  return tensor(name, [length], FLOAT, bytesOf(new Float32Array(length).fill(value)));
}

function tensor(name, shape, type, bytes) {
  const lengths = shape.flatMap((length) => integer(1, length));
  return [...lengths, ...integer(2, type), ...text(8, name), ...part(9, bytes)];
}

function valueInfo(name, shape, type) {
  const lengths = shape.flatMap((length) => part(1, integer(1, length)));
  const tensorType = [...integer(1, type), ...part(2, lengths)];
  return [...text(1, name), ...part(2, part(1, tensorType))];
}

function int64(value) {
  return bytesOf(new BigInt64Array([BigInt(value)]));
}

function bytesOf(values) {
  return [...new Uint8Array(values.buffer)];
}

// Protobuf's wire format: a field's number and kind, then its content.

function part(field, bytes) {
  return [...varint((field << 3) | 2), ...varint(bytes.length), ...bytes];
}

function text(field, value) {
  return part(field, [...new TextEncoder().encode(value)]);
}

function integer(field, value) {
  return [...varint(field << 3), ...varint(value)];
}

function float32(field, value) {
  return [...varint((field << 3) | 5), ...bytesOf(new Float32Array([value]))];
}

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}
