/** The worker that owns Python and the GPU: answers one question after another. */

import type { PyodideAPI } from "pyodide";
import type { PyCallable } from "pyodide/ffi";
import { Interrupt } from "./interrupt";
import { countFetches, loadPython, type BuildInfo } from "./loading";
import type {
  Note,
  Question,
  Questions,
  Reply,
  Request,
  StartDetails,
  Started,
  ToWorker,
} from "./protocol";

declare global {
  var tensorwebAdapter: Promise<GPUAdapter | null> | undefined;
}

interface Running {
  python: PyodideAPI;
  interrupt: Interrupt;
  ask(question: string, details: string): Promise<string>;
}

const base = new URL("./", self.location.href);
let running: Running | null = null;
const OURS = "tensorweb";
const QUIET = { messageCallback: () => undefined, errorCallback: () => undefined };
let queue: Promise<void> = Promise.resolve();
let current = 0;
let unanswered = 0;
let isWarm = true;
let timer = 0;

self.addEventListener("message", (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if ("cancel" in message) {
    running?.interrupt.remember(message.cancel);
    // A late message must not hit the next question.
    if (message.cancel === current) running?.interrupt.cancel();
    return;
  }
  unanswered += 1;
  queue = queue.then(() => reply(message));
});

async function reply(request: Request): Promise<void> {
  const answer: Reply = { id: request.id };
  current = request.id;
  try {
    answer.value = await respond(request);
  } catch (error) {
    answer.error = error instanceof Error ? error.message : String(error);
    if (isFatal(error)) tell({ note: "fatal", message: answer.error });
  }
  current = 0;
  unanswered -= 1;
  self.postMessage(answer);
  warmUpLater(AFTER_ANSWER_MS);
}

/** The page asks more questions right after an answer; they come first. */
const AFTER_ANSWER_MS = 300;
const BETWEEN_STEPS_MS = 20;

/** Compile common kernels while nobody asks anything, in steps of milliseconds. */
function warmUpLater(wait: number): void {
  if (isWarm || !running || unanswered) return;
  clearTimeout(timer);
  timer = self.setTimeout(() => {
    if (!unanswered) queue = queue.then(warmUp);
  }, wait);
}

async function warmUp(): Promise<void> {
  if (isWarm || !running || unanswered) return;
  const { interrupt } = running;
  interrupt.begin();
  try {
    const answer = JSON.parse(await running.ask("warm", "{}")) as { more: boolean };
    isWarm = !answer.more;
  } catch (error) {
    if (!isStop(error)) {
      isWarm = true; // the next run meets the same trouble and tells it
      console.warn("warming up ended:", error);
    }
  } finally {
    interrupt.end();
  }
  warmUpLater(BETWEEN_STEPS_MS);
}

async function respond(request: Request): Promise<unknown> {
  if (request.question === "start") return start(request.details);
  if (!running) throw new Error("Python has not started");
  const { interrupt } = running;
  if (request.question === "run") await loadPackages(running.python, request.details);
  const whenStopped = STOPPED[request.question];
  if (whenStopped && interrupt.isStopped(request.id)) return whenStopped;
  interrupt.begin(request.id);
  try {
    return JSON.parse(
      await running.ask(request.question, JSON.stringify(request.details)),
    );
  } catch (error) {
    if (whenStopped && isStop(error)) return whenStopped;
    throw error;
  } finally {
    interrupt.end();
  }
}

/** The answers when Stop strikes before Python looks at a question or after it did. */
const STOPPED: { [Q in Question]?: Questions[Q]["value"] } = {
  run: { seconds: 0, stopped: true, error: null, kernels: [] },
  describe: [],
};

function isStop(error: unknown): boolean {
  return error instanceof Error && error.message.trimEnd().endsWith("KeyboardInterrupt");
}

/**
 * Fetch what the program will most likely import, so that it need not wait in the
 * middle; what this overlooks is fetched by its import.
 */
async function loadPackages(
  python: PyodideAPI,
  { source, device }: Questions["run"]["details"],
): Promise<void> {
  const wanted = new Set<string>();
  for (const [, name = ""] of source.matchAll(/^\s*(?:import|from)\s+(\w+)/gm)) wanted.add(name);
  if (device === "cpu" || /["']cpu["']|\.numpy\(/.test(source)) wanted.add("numpy");
  const packages = Object.entries(lockfilePackages(python));
  const names = packages
    .filter(([name, { imports }]) => name !== OURS && imports.some((top) => wanted.has(top)))
    .map(([name]) => name);
  if (names.length === 0) return;
  try {
    await python.loadPackage(names, QUIET);
  } catch {
    // The import in the program says what is missing.
  }
}

function lockfilePackages(python: PyodideAPI): Record<string, { imports: string[] }> {
  const { lockfile } = python as unknown as {
    lockfile: { packages: Record<string, { imports: string[] }> };
  };
  return lockfile.packages;
}

async function start({ interrupt }: StartDetails): Promise<Started> {
  const response = await fetch(new URL("build.json", base));
  if (!response.ok) throw new Error(`build.json answered ${response.status}`);
  const build = (await response.json()) as BuildInfo;
  countFetches(base, build, tell);
  const adapter = findAdapter();
  const { python, snapshot } = await loadPython(base, build, tell);
  const found = await adapter;
  if (found.name) tell({ note: "step", text: `GPU: ${found.name}` });
  const packages = lockfilePackages(python);
  const blocking = "Suspending" in WebAssembly;
  const bridge = python.pyimport("tensorweb.playground");
  const load = (name: string): Promise<unknown> =>
    python.loadPackage(name, QUIET);
  bridge.connect(passOn, load, JSON.stringify(importNames(packages)), blocking);
  running = {
    python,
    interrupt: new Interrupt(python, interrupt),
    ask: blocking ? blockingAsk(bridge.answer) : awaitingAsk(bridge.answer_async),
  };
  return {
    adapter: found.name,
    reason: found.reason,
    numpy: "numpy" in packages,
    blocking,
    python: python.runPython("import sys; sys.version.split()[0]") as string,
    version: build.version,
    snapshot,
  };
}

function importNames(packages: Record<string, { imports: string[] }>): string[] {
  return Object.values(packages).flatMap((entry) => entry.imports ?? []);
}

function blockingAsk(answer: PyCallable): Running["ask"] {
  return (question, details) =>
    answer.callPromising(question, details) as Promise<string>;
}

function awaitingAsk(answer: PyCallable): Running["ask"] {
  return (question, details) => answer(question, details) as Promise<string>;
}

/** Look for a GPU while Python loads; the library's driver takes the same adapter. */
async function findAdapter(): Promise<{ name: string | null; reason: string | null }> {
  if (!self.isSecureContext) {
    return { name: null, reason: "WebGPU needs https or localhost." };
  }
  if (!navigator.gpu) {
    return { name: null, reason: "This browser has no WebGPU." };
  }
  try {
    globalThis.tensorwebAdapter = navigator.gpu.requestAdapter({
      powerPreference: "high-performance",
    });
    const adapter = await globalThis.tensorwebAdapter;
    if (!adapter) return { name: null, reason: "This browser found no GPU for WebGPU." };
    isWarm = isSoftware(adapter.info);
    return { name: adapterName(adapter.info), reason: null };
  } catch (error) {
    return { name: null, reason: `WebGPU did not start: ${String(error)}` };
  }
}

/** A CPU compiles nothing on the side: it would take the time from programs. */
function isSoftware(info: GPUAdapterInfo): boolean {
  return info.isFallbackAdapter || /swiftshader|llvmpipe/i.test(adapterName(info));
}

function adapterName(info: GPUAdapterInfo): string {
  const parts = [info.vendor, info.architecture].filter(Boolean).join(" ");
  return info.description || info.device || parts || "WebGPU adapter";
}

/** Hand what a program prints and shows to the page. */
function passOn(kind: string, fields: string): void {
  tell({ note: kind, ...JSON.parse(fields) } as Note);
}

function tell(note: Note): void {
  self.postMessage(note);
}

/** Whether Python cannot go on after this error. */
function isFatal(error: unknown): boolean {
  if (error instanceof WebAssembly.RuntimeError) return true;
  if (error instanceof RangeError || error instanceof WebAssembly.LinkError) return true;
  return Boolean((error as { pyodide_fatal_error?: boolean } | null)?.pyodide_fatal_error);
}
