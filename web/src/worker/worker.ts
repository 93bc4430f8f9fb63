/** The worker that owns Python and the GPU: it handles one request after another. */

import type { PyodideAPI } from "pyodide";
import type { PyCallable, PyProxy } from "pyodide/ffi";
import { watchPrograms } from "./begun";
import { isFatal, reasonOf, textOf } from "./fatal";
import { Interrupt } from "./interrupt";
import { openChannel, rateLimit, replaceGlobal, type Send } from "./channel";
import { CoreFiles } from "./fetching";
import { OwnFiles } from "./own-files";
import { loadPython, readSnapshot, resolveAddresses, type BuildInfo, type Loaded } from "./loading";
import type { Details, Request, RequestName, StartDetails, Started, ToWorker, Value } from "../page/messages";
import type { PythonRequests } from "../page/protocol";

declare global {
  var tensorwebAdapter: Promise<GPUAdapter | null> | undefined;
}

interface Running {
  python: PyodideAPI;
  files: OwnFiles;
  interrupt: Interrupt;
  request(name: keyof PythonRequests, details: string): Promise<WorkerResponse>;
}

/** A record in JSON, the bytes that stand for its nulls, and files by name. */
type WorkerResponse = { response: string; data?: Uint8Array; files?: Blob[] };

// A worker started from its file has the file's policy, which many hosts do not send: a program
// that starts it this way could reach the whole network. No handler is set before this line.
if (self.location.protocol !== "blob:") {
  self.close();
  throw new Error("the page starts this worker");
}

const base = new URL("./", import.meta.url);
const files = new CoreFiles(base);
const description = Promise.race([files.failed, files.take(new URL("build.json", base))]).then(
  async (response) => (await response.json()) as BuildInfo,
);
/** Read before the page asks for Python. */
const stored = description.then((build) => readSnapshot(base, build));
stored.catch(() => undefined);
let running: Running | null = null;
const OURS = "tensorweb";
const QUIET = { messageCallback: () => undefined, errorCallback: () => undefined };
let queue: Promise<void> = Promise.resolve();
let current = 0;
let unanswered = 0;
/** Whether warm-up is complete; with a GPU Python's first response decides. */
let isWarm = true;
let timer = 0;
/** Saved before programs run, because their own timers end with them. */
const { setTimeout, clearTimeout } = self;
/** Closes resources that programs have opened in JavaScript. */
let endBegun: () => void = () => undefined;
let send: Send = () => undefined;
let hasBegun = false;

/**
 * Handle the page's first message, with the digest of the memory snapshot that may be used;
 * later first messages, by a program, are ignored.
 */
export function begin(first: MessageEvent): void {
  if (hasBegun) throw new Error("the page has started this worker");
  hasBegun = true;
  send = openChannel(first, receive);
  const { data } = first as MessageEvent<unknown>;
  loading = load(typeof data === "string" ? data : null);
  loading.catch(() => undefined); // the page asks for it
}

function receive(message: ToWorker): void {
  if ("cancel" in message) {
    running?.interrupt.remember(message.cancel);
    // A late message must not affect the next request.
    if (message.cancel === current) running?.interrupt.cancel();
    return;
  }
  if ("typed" in message) {
    handLine(message.typed);
    return;
  }
  unanswered += 1;
  queue = after(queue, () => reply(message));
}

/** Receives the next line that the reader types; set only while a program waits. */
let handLine: (line: string) => void = () => undefined;

function nextLine(): Promise<string> {
  return new Promise((resolve) => {
    handLine = (line) => {
      handLine = () => undefined;
      resolve(line);
    };
  });
}

/** `Promise.prototype.then`, saved because a program may replace it. */
async function after(before: Promise<void>, next: () => Promise<void>): Promise<void> {
  await before;
  await next();
}

async function reply(request: Request): Promise<void> {
  const { id } = request;
  current = id;
  try {
    const response = await respond(request);
    current = 0;
    send({ id, ...response });
  } catch (error) {
    current = 0;
    if (isFatal(error)) die(error);
    send({ id, error: textOf(error) });
  }
  unanswered -= 1;
  warmUpLater(AFTER_ANSWER_MS);
}

/** Delay of warm-up, since the page sends more requests right after a response. */
const AFTER_ANSWER_MS = 300;
const BETWEEN_STEPS_MS = 20;

/** Compile common kernels while no request is pending, in steps of milliseconds. */
function warmUpLater(wait: number): void {
  if (isWarm || !running || unanswered) return;
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (!unanswered) queue = after(queue, warmUp);
  }, wait);
}

async function warmUp(): Promise<void> {
  if (isWarm || !running || unanswered) return;
  const { interrupt } = running;
  interrupt.begin();
  try {
    const { response } = await running.request("warm", "{}");
    isWarm = !(JSON.parse(response) as Value<"warm">).more;
  } catch (error) {
    if (isFatal(error)) die(error);
    if (!isStop(error)) {
      isWarm = true; // the next run fails with the same error and reports it
      console.warn("warming up ended:", error);
    }
  } finally {
    interrupt.end();
  }
  warmUpLater(BETWEEN_STEPS_MS);
}

/** Return the response as JSON text; the page parses it, because a program could interfere here. */
async function respond(request: Request): Promise<WorkerResponse> {
  if (request.name === "start") return { response: JSON.stringify(await start(request.details)) };
  if (!running) throw new Error("Python has not started");
  const { interrupt, files } = running;
  if (request.name === "provide") {
    files.provide(request.details);
    return { response: "null" };
  }
  if (request.name === "collect") {
    const collected = files.collect();
    const names = collected.files.map(({ name }) => name);
    return { response: JSON.stringify({ ...collected, files: names }), files: collected.files.map(({ data }) => data) };
  }
  const { name, details, id } = request;
  if (name === "run") {
    if (!details.keep) endBegun();
    await loadPackages(running.python, details);
  }
  const whenStopped = STOPPED[name];
  if (whenStopped && interrupt.isStopped(id)) return { response: whenStopped };
  interrupt.begin(id);
  try {
    return await running.request(name, JSON.stringify(details));
  } catch (error) {
    if (whenStopped && isStop(error)) return { response: whenStopped };
    throw error;
  } finally {
    interrupt.end();
    // A program's timers and workers live until the next run, but not after Stop.
    if (name === "leave" || (name === "run" && interrupt.isStopped(id))) endBegun();
  }
}

/** The responses when Stop arrives before Python begins a request or after it ended one. */
const STOPPED: { [Q in RequestName]?: string } = {
  run: JSON.stringify({
    seconds: 0,
    stopped: true,
    error: null,
    kernels: [],
    lines: [],
    kernelsLeftOut: 0,
    faults: [],
  } satisfies Value<"run">),
  describe: "[]",
};

function isStop(error: unknown): boolean {
  return error instanceof Error && error.message.trimEnd().endsWith("KeyboardInterrupt");
}

/**
 * Fetch packages that the program will most likely import, so that it need not wait
 * at the import; packages that are missed here are fetched by their import.
 */
async function loadPackages(
  python: PyodideAPI,
  { source: main, files }: Details<"run">,
): Promise<void> {
  const modules = files.filter(({ name }) => name.endsWith(".py"));
  const source = [main, ...modules.map(({ text }) => text)].join("\n");
  const imported = new Set<string>();
  for (const [, name = ""] of source.matchAll(/^\s*(?:import|from)\s+(\w+)/gm)) imported.add(name);
  if (/\.numpy\(/.test(source)) imported.add("numpy");
  const packages = Object.entries(lockfilePackages(python));
  const names = packages
    .filter(([name, { imports }]) => name !== OURS && imports.some((top) => imported.has(top)))
    .map(([name]) => name);
  if (names.length === 0) return;
  try {
    await python.loadPackage(names, QUIET);
  } catch {
    // The import in the program raises the error.
  }
}

function lockfilePackages(python: PyodideAPI): Record<string, { imports: string[] }> {
  const { lockfile } = python as unknown as {
    lockfile: { packages: Record<string, { imports: string[] }> };
  };
  return lockfile.packages;
}

/** Python, as soon as the page has sent its first message. */
let loading: ReturnType<typeof load> = Promise.reject(new Error("internal: nothing has begun"));
loading.catch(() => undefined);

async function load(digest: string | null): Promise<{ build: BuildInfo; loaded: Loaded; adapter: Promise<FoundAdapter> }> {
  const adapter = findAdapter();
  const build = await description;
  resolveAddresses(base);
  const end = files.serve(build.sizes, send);
  const loaded = await Promise.race([files.failed, loadPython(base, build, files, stored, digest, send)]);
  end();
  return { build, loaded, adapter };
}

async function start({ interrupt }: StartDetails): Promise<Started> {
  const { build, loaded, adapter } = await loading;
  const { python, snapshot } = loaded;
  const gpu = await adapter;
  if (gpu.name) send({ note: "step", text: `GPU: ${gpu.name}` });
  const software = python.runPython(SOFTWARE) as string;
  const packages = lockfilePackages(python);
  const blocking = "Suspending" in WebAssembly;
  const bridge = python.pyimport("tensorweb.playground");
  const load = (name: string): Promise<unknown> =>
    python.loadPackage(name, QUIET);
  const guard = new Interrupt(python, interrupt);
  const readLine = interrupt && !blocking ? () => guard.readLine() : undefined;
  const imports = JSON.stringify(importNames(packages));
  bridge.connect(passOn, load, imports, JSON.stringify(build.compiled), blocking, nextLine, readLine);
  watchForDeath(python);
  endBegun = watchPrograms();
  running = {
    python,
    files: new OwnFiles(python.FS as ConstructorParameters<typeof OwnFiles>[0]),
    interrupt: guard,
    request: blocking ? blockingRequest(bridge.respond) : awaitingRequest(bridge.respond_async),
  };
  // Unpacking takes some 0.1 s, which a first run would wait for.
  setTimeout(loaded.complete, AFTER_ANSWER_MS);
  return {
    adapter: gpu.name,
    emulated: gpu.isFallback || new RegExp(software).test(gpu.name ?? ""),
    reason: gpu.reason,
    blocking,
    python: python.runPython("import sys; sys.version.split()[0]") as string,
    version: build.version,
    snapshot,
    digest: await loaded.digest,
  };
}

/** The driver's pattern for adapters that are emulated by a CPU. */
const SOFTWARE = "from tensorweb.drivers.browser import SOFTWARE; SOFTWARE";

function importNames(packages: Record<string, { imports: string[] }>): string[] {
  return Object.values(packages).flatMap((entry) => entry.imports ?? []);
}

function blockingRequest(respond: PyCallable): Running["request"] {
  return async (name, details) =>
    unpacked((await respond.callPromising(name, details)) as string | PyProxy);
}

function awaitingRequest(respond: PyCallable): Running["request"] {
  return async (name, details) => unpacked((await respond(name, details)) as string | PyProxy);
}

/** Unpack Python's response: a text, or a pair of a text and bytes. */
function unpacked(result: string | PyProxy): WorkerResponse {
  if (typeof result === "string") return { response: result };
  const [response, data] = result.toJs() as [string, Uint8Array];
  result.destroy();
  return { response, data };
}

/** Request a GPU adapter while Python loads; the library's driver uses the same one. */
async function findAdapter(): Promise<FoundAdapter> {
  if (!self.isSecureContext) return noAdapter("WebGPU needs https or localhost.");
  if (!navigator.gpu) return noAdapter("This browser has no WebGPU.");
  try {
    globalThis.tensorwebAdapter = navigator.gpu.requestAdapter({
      powerPreference: "high-performance",
    });
    const adapter = await globalThis.tensorwebAdapter;
    if (!adapter) return noAdapter("This browser found no GPU for WebGPU.");
    isWarm = false;
    const { info } = adapter;
    return { name: adapterName(info), isFallback: Boolean(info.isFallbackAdapter), reason: null };
  } catch (error) {
    return noAdapter(`WebGPU did not start: ${String(error)}`);
  }
}

interface FoundAdapter {
  name: string | null;
  isFallback: boolean;
  reason: string | null;
}

function noAdapter(reason: string): FoundAdapter {
  return { name: null, isFallback: false, reason };
}

function adapterName(info: GPUAdapterInfo): string {
  const parts = [info.vendor, info.architecture].filter(Boolean).join(" ");
  return info.description || info.device || parts || "WebGPU adapter";
}

const isFlood = rateLimit();
/** Pictures of a running program, sixty times a second. */
const isFloodOfPictures = rateLimit(100_000);

/** Send a program's output and displays to the page, with the bytes of a picture. */
function passOn(kind: unknown, fields: unknown, bytes?: PyProxy): void {
  if (typeof kind !== "string" || typeof fields !== "string") return;
  const data = bytes?.toJs() as Uint8Array | undefined;
  const isTooMuch = kind === "picture" || kind === "plot" ? isFloodOfPictures : isFlood;
  if (isTooMuch(fields.length + (data?.length ?? 0))) send({ fatal: FLOOD });
  else send(data ? { said: kind, fields, data } : { said: kind, fields });
}

const FLOOD = "The program sent more messages than a page can take.";
const MOST_UNEXPECTED = 1000;

/** Remove the functions by which a program could send messages for us, or end the worker unnoticed. */
function guard(): void {
  let unexpected = 0;
  replaceGlobal("postMessage", () => {
    unexpected += 1;
    if (unexpected === MOST_UNEXPECTED) send({ fatal: FLOOD });
  });
  replaceGlobal("close", () => send({ fatal: "The program closed the worker that runs it." }));
  self.addEventListener("error", (event) => {
    event.preventDefault();
    if (isFatal(event.error)) die(event.error);
    else tellFailure(event.error ?? event.message);
  });
}
guard();

/** Print exceptions of JavaScript callbacks, which nothing else reports; Python prints its own. */
function tellFailure(error: unknown): void {
  if ((error as { name?: unknown } | null)?.name === "PythonError") return;
  const text = `A callback failed: ${textOf(error).trim().slice(0, 10_000)}\n`;
  passOn("output", JSON.stringify({ stream: "stderr", text }));
}

/** Pyodide calls this when Python crashes, in a request or in a callback. */
function watchForDeath(python: PyodideAPI): void {
  const { _api } = python as unknown as { _api: { on_fatal?: (error: unknown) => void } };
  _api.on_fatal = die;
}

/** Report to the page, which then starts another worker. */
function die(error: unknown): void {
  send({ fatal: reasonOf(error) });
}
