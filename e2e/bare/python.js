// Starts Pyodide, plainly or from a snapshot of its memory.

/**
 * Start Python of the Pyodide in a folder. Pyodide copies a snapshot into the memory
 * that its module begins with, so it is grown before.
 */
export async function startPython(home, options = {}) {
  const { loadPyodide } = await import(`${home}pyodide.mjs`);
  const { instantiateStreaming } = WebAssembly;
  const size = options._loadSnapshot?.byteLength ?? 0;
  WebAssembly.instantiateStreaming = async (...given) => {
    const found = await instantiateStreaming.apply(WebAssembly, given);
    const { memory } = found.instance.exports;
    const missing = size - (memory?.buffer.byteLength ?? Infinity);
    if (missing > 0) memory.grow(Math.ceil(missing / (1 << 16)));
    return found;
  };
  try {
    return await loadPyodide({ indexURL: home, packageBaseUrl: home, ...options });
  } finally {
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

/** Start Python from the snapshot at an address. */
export async function restorePython(home, address) {
  const bytes = await (await fetch(address)).arrayBuffer();
  return startPython(home, { _loadSnapshot: new Uint8Array(bytes) });
}
