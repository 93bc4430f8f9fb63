/** What esbuild joins into `vendor/tfjs.mjs`: TensorFlow.js's packages are not for Node. */

export * from "@tensorflow/tfjs-core";
import "@tensorflow/tfjs-core/dist/register_all_gradients.js";
import "@tensorflow/tfjs-backend-webgpu";
