/**
 * Removes, from programs and from the workers that they start, the APIs that could change the site:
 * its service worker, which Firefox offers in workers, and the reader's files. The page's
 * worker calls it before any program runs; docs/guide/security.md lists what holds.
 */

/** Classes of the browser from whose prototypes members are deleted. */
type Leaky = Record<string, { prototype: Record<string, unknown> } | undefined>;

type Started = (worker: Worker) => void;

/**
 * Close the realm of this worker, and prepend the same script to every worker: it has
 * a realm of its own, with all APIs that were removed here.
 *
 * Those workers run its source text, so it refers to no outer name, and every function
 * that it calls later is bound before any program runs.
 */
function close(text: string, onStart: Started): void {
  const leaky = globalThis as unknown as Leaky;
  delete leaky["WorkerNavigator"]?.prototype["serviceWorker"];
  for (const disk of ["StorageManager", "StorageBucket"]) delete leaky[disk]?.prototype["getDirectory"];
  // Workers inside of workers are missing in some browsers.
  if (typeof Worker !== "function") return;
  const { construct } = Reflect;
  const { createObjectURL, revokeObjectURL } = URL;
  const PlainBlob = Blob;
  const Refusal = DOMException;
  const asText = String;
  const blobs = new Map<string, Blob>();
  const known = Map.prototype.get.bind(blobs) as (address: string) => Blob | undefined;
  const remember = Map.prototype.set.bind(blobs);
  const forget = Map.prototype.delete.bind(blobs);
  const isBlob = Function.prototype.call.bind(Function.prototype[Symbol.hasInstance], Blob) as (value: unknown) => value is Blob;
  // Own iterators: a program that changes Array.prototype must not see or change the parts.
  const joined = (first: string, second: Blob | string): Blob => {
    const parts = [first, second];
    let next = 0;
    const step = () => (next < 2 ? { done: false, value: parts[next++] } : { done: true, value: undefined });
    Object.defineProperty(parts, Symbol.iterator, { value: () => ({ next: step }) });
    return new PlainBlob(parts as BlobPart[], { type: "text/javascript" });
  };
  const words = `(${text})(${JSON.stringify(text)}, () => {});\n`;
  const module = createObjectURL(joined(words, ""));
  const beginning = `import ${JSON.stringify(module)};\n`;

  URL.createObjectURL = (made) => {
    const address = createObjectURL(made);
    if (isBlob(made)) remember(address, made);
    return address;
  };
  URL.revokeObjectURL = (address) => {
    if (asText(address) !== module) revokeObjectURL(address);
    forget(asText(address));
  };
  const start = (plain: typeof Worker, [given, options]: [unknown, WorkerOptions?], self: Function): Worker => {
    const blob = known(asText(given));
    if (!blob) throw new Refusal("A program starts workers from blob: addresses that it has made where it starts them.", "SecurityError");
    const { name, credentials, type } = { ...options };
    const isModule = type !== undefined && asText(type) === "module";
    const address = createObjectURL(joined(isModule ? beginning : words, blob));
    const checked = { name, credentials, type: isModule ? "module" : "classic" };
    const made = construct(plain, [address, checked], self) as Worker;
    revokeObjectURL(address);
    onStart(made);
    return made;
  };
  const wrapped = new Proxy(Worker, { construct: start as never });
  Worker.prototype.constructor = wrapped;
  globalThis.Worker = wrapped;
}

/** Close this worker's realm; `onStart` is called with each worker that a program starts. */
export function closeRealm(onStart: Started): void {
  close(String(close), onStart);
}
