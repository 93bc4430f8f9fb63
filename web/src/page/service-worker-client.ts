/** The page's side of the service worker: files cached for later visits, and new versions. */

export const SCRIPT = "service-worker.js";

/** Requests to the service worker; only some have a response. */
type ServiceRequest = "keep" | "build" | "take over";

/** Register the service worker of this folder; fails where the browser has or allows none. */
export function register(): Promise<ServiceWorkerRegistration> {
  return navigator.serviceWorker.register(SCRIPT, { updateViaCache: "none" });
}

/** Wait until a service worker serves; false where it never will. */
export function isServing({ installing, waiting, active }: ServiceWorkerRegistration): Promise<boolean> {
  const worker = active ?? waiting ?? installing;
  return new Promise((resolve) => {
    const check = (): void => {
      if (worker?.state === "activated") resolve(true);
      if (!worker || worker.state === "redundant") resolve(false);
    };
    worker?.addEventListener("statechange", check);
    check();
  });
}

/**
 * Cache the files of this build, and report when another build is ready. If the
 * browser stores nothing, do nothing: the page works without a cache.
 */
export async function cacheSite(onNewVersion: () => void): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registration = await register();
  const check = async (worker: ServiceWorker | null): Promise<void> => {
    if (worker && (await send(worker, "build")) !== thisBuild()) onNewVersion();
  };
  const watch = (): void =>
    registration.installing?.addEventListener("statechange", () => void check(registration.waiting));
  registration.addEventListener("updatefound", watch);
  watch();
  const { serviceWorker } = navigator;
  serviceWorker.addEventListener("controllerchange", () => void check(serviceWorker.controller));
  void check(registration.waiting);
  if (await isServing(registration)) registration.active?.postMessage("keep" satisfies ServiceRequest);
}

/** Reload the page with the new version; false while other pages use the old one. */
export async function takeNewVersion(): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration();
  const waiting = registration?.waiting;
  if (waiting) {
    const taken = new Promise((resolve) =>
      navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true }),
    );
    if ((await send(waiting, "take over")) !== true) return false;
    await taken;
  }
  location.reload();
  return true;
}

function send(worker: ServiceWorker, request: ServiceRequest): Promise<unknown> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data);
    worker.postMessage(request, [port2]);
  });
}

function thisBuild(): string | undefined {
  return document.documentElement.dataset["build"];
}
