/** What esbuild joins into `vendor/tfjs-wasm.mjs`: TensorFlow.js on WebAssembly. */

export * from "@tensorflow/tfjs-core";
export { getThreadsCount, setThreadsCount, setWasmPaths } from "@tensorflow/tfjs-backend-wasm";
