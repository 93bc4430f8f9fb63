/**
 * Makes WebAssembly's memory large enough for a snapshot: Pyodide copies one into the
 * memory that its module declares, and a snapshot that outgrew it would be refused.
 */

const PAGE = 1 << 16;

/** Run `load` while every module's own memory starts with at least this many bytes. */
export async function withRoomFor<T>(bytes: number, load: () => Promise<T>): Promise<T> {
  const { instantiate, instantiateStreaming } = WebAssembly;
  const roomy =
    <A extends unknown[], R>(plain: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const found = await plain.apply(WebAssembly, given);
      grow(found, bytes);
      return found;
    };
  WebAssembly.instantiate = roomy(instantiate as never) as typeof instantiate;
  WebAssembly.instantiateStreaming = roomy(instantiateStreaming);
  try {
    return await load();
  } finally {
    Object.assign(WebAssembly, { instantiate, instantiateStreaming });
  }
}

/** Grow the memory that an instance exports, where it has one that is smaller. */
function grow(found: unknown, bytes: number): void {
  const { instance } = found as Partial<WebAssembly.WebAssemblyInstantiatedSource>;
  const memory = instance?.exports.memory;
  if (!(memory instanceof WebAssembly.Memory)) return;
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
}
