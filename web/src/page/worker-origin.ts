/** Starts workers: under this page's policy, or under one that allows other sites. */

import { SCRIPT } from "./service-worker-client";
import { recall } from "./storage";

/** Where the page stores the SHA-256 of the memory snapshot that may be used. */
export const DIGEST = "snapshot";

type Realm = Window & typeof globalThis;

export interface WorkerChannel {
  worker: Worker;
  /** The page's end of the private channel, see `channel.ts`. */
  port: MessagePort;
  /** Why the worker did not load; null while no failure is known. */
  failure: string | null;
}

declare global {
  /** The worker that `begin.ts` started; null once it is taken. */
  var tensorwebEarly: Promise<WorkerChannel | null> | null | undefined;
}

let frame: HTMLIFrameElement | null = null;

/** The folder of the site: a document in another folder names it. */
function site(): string {
  return new URL(document.documentElement.dataset["site"] ?? "./", document.baseURI).href;
}

/** Start a worker with or without access to other sites, or take the one that was started early. */
export async function startWorker(withNetwork: boolean): Promise<WorkerChannel> {
  const early = await globalThis.tensorwebEarly;
  globalThis.tensorwebEarly = null;
  if (early && !withNetwork) return early;
  return openWorker(withNetwork ? await openNetwork() : window);
}

/**
 * Start a worker. A short script at a `blob:` address imports its file, since such
 * a worker takes over the policy of the document that starts it, on any host.
 */
export function openWorker(realm: Realm): WorkerChannel {
  narrow(realm.document);
  const file = new URL("./worker.js", site()).href;
  const words = new realm.Blob([wordsFor(file)], { type: "text/javascript" });
  const address = realm.URL.createObjectURL(words);
  const worker = new realm.Worker(address, { type: "module" });
  const { port1, port2 } = new MessageChannel();
  // Sent at once: Python can start before the page's own script has run.
  worker.postMessage(recall(DIGEST), [port2]);
  port1.addEventListener("message", () => realm.URL.revokeObjectURL(address), { once: true });
  const channel: WorkerChannel = { worker, port: port1, failure: null };
  worker.addEventListener("error", ({ message }) => (channel.failure ??= message || "The worker did not load."));
  return channel;
}

/** The worker's first script: it passes its first message, with our port, to the file. */
function wordsFor(file: string): string {
  return `const first = new Promise((done) => addEventListener("message", done, { once: true }));
import(${JSON.stringify(file)})
  .then(async ({ begin }) => begin(await first))
  .catch((error) => setTimeout(() => { throw error; }));`;
}

/**
 * Allow this document, and the workers that take over its policy, no file of the site as a
 * worker but the service worker. A policy that is written into a page on any host cannot
 * say so, since it would have to name the host.
 */
function narrow({ head }: Document): void {
  if (head.querySelector("meta[data-narrow]")) return;
  const { origin, pathname } = new URL(SCRIPT, site());
  const meta = document.createElement("meta");
  meta.dataset["narrow"] = "";
  meta.httpEquiv = "Content-Security-Policy";
  // Both characters would end the address in a policy header.
  meta.content = `worker-src blob: ${origin}${pathname.replace(/[;,]/g, encodeURIComponent)}`;
  head.append(meta);
}

/** Open the document whose policy lets programs reach other sites. */
async function openNetwork(): Promise<Realm> {
  closeNetwork();
  const opened = document.createElement("iframe");
  opened.title = "Programs with network access";
  opened.hidden = true;
  opened.src = new URL("./network/", site()).href;
  const loaded = new Promise((resolve) => opened.addEventListener("load", resolve));
  document.body.append(opened);
  frame = opened;
  await loaded;
  const realm = opened.contentWindow as Realm | null;
  if (!realm || !isOurs(opened)) throw new Error("network/ is missing on this site");
  return realm;
}

function isOurs(opened: HTMLIFrameElement): boolean {
  return opened.contentDocument?.title === opened.title;
}

/** Remove that document; its workers end with it. */
export function closeNetwork(): void {
  frame?.remove();
  frame = null;
}
