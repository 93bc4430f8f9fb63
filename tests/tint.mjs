// Compiles shaders with Tint through Dawn's null backend, which needs no GPU.
// Reads a JSON list of WGSL texts from a file and prints a JSON list of error texts.
import fs from "node:fs";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const gpu = create(["backend=null", "enable-dawn-features=allow_unsafe_apis"]);
const adapter = await gpu.requestAdapter();
const required = ["shader-f16", "subgroups", "chromium-experimental-subgroup-matrix"];
const features = required.filter((f) => adapter.features.has(f));
const device = await adapter.requestDevice({ requiredFeatures: features });
const sources = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const results = [];
for (const code of sources) {
  device.pushErrorScope("validation");
  const module = device.createShaderModule({ code });
  const info = await module.getCompilationInfo();
  const scope = await device.popErrorScope();
  const lines = code.split("\n");
  const errors = info.messages
    .filter((m) => m.type === "error")
    .map((m) => `${m.lineNum}:${m.linePos} ${m.message}\n    ${lines[m.lineNum - 1]}`);
  if (scope && !errors.length) errors.push(scope.message);
  results.push(errors.join("\n"));
}
console.log(JSON.stringify(results));
process.exit(0);
