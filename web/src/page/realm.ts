/** Where workers are started: under this page's policy, or under one that is wider. */

type Realm = Window & typeof globalThis;

export interface WorkerChannel {
  worker: Worker;
  /** The page's end of the private channel, see `channel.ts`. */
  port: MessagePort;
}

let frame: HTMLIFrameElement | null = null;

/**
 * Start a worker. Its file is imported by a few words at a `blob:` address, since such
 * a worker takes over the policy of the document that starts it, on any host.
 */
export async function startWorker(withNetwork: boolean): Promise<WorkerChannel> {
  const realm = withNetwork ? await openNetwork() : window;
  const file = new URL("./worker.js", import.meta.url).href;
  const words = new realm.Blob([`import ${JSON.stringify(file)};`], { type: "text/javascript" });
  const address = realm.URL.createObjectURL(words);
  const worker = new realm.Worker(address, { type: "module" });
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(null, [port2]);
  port1.addEventListener("message", () => realm.URL.revokeObjectURL(address), { once: true });
  return { worker, port: port1 };
}

/** Open the document whose policy lets programs reach other sites. */
async function openNetwork(): Promise<Realm> {
  closeNetwork();
  const opened = document.createElement("iframe");
  opened.title = "Programs with network access";
  opened.hidden = true;
  opened.src = new URL("./network/", import.meta.url).href;
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
