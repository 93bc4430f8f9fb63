/** What one thread can do at most: hand-written WebAssembly modules (`bench/roofs.py`). */

import { makeCase } from "./run.mjs";

const PAGE = 65536;

export function open() {
  return {
    name: "WebAssembly",
    cases(workload) {
      const { module, arguments: given, nbytes } = workload;
      const memory = new WebAssembly.Memory({ initial: Math.ceil(nbytes / PAGE) + 1 });
      new Float32Array(memory.buffer).fill(1 / 1024);
      const bytes = Uint8Array.from(atob(module), (letter) => letter.charCodeAt(0));
      const compiled = new WebAssembly.Module(bytes);
      const { run } = new WebAssembly.Instance(compiled, { m: { memory } }).exports;
      const repeat = (count) => {
        for (let i = 0; i < count; i++) run(...given);
      };
      return [makeCase(workload, { name: "WebAssembly", memory, run: repeat })];
    },
    end() {},
  };
}
