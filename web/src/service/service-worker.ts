/**
 * The service worker: gives the page the headers that its host may not send, and the files
 * of one build, cached for later visits. Requests for other files are not handled.
 */

import { download, pass } from "./downloads";
import { DOCUMENTS, START, Site, type SiteFile, type SiteTable } from "./site";
import { Store, digestOf } from "./store";

declare const self: ServiceWorkerGlobalScope & { tensorwebSite: SiteTable };

/** Requests of the page; see `web/src/page/service-worker-client.ts`. */
type ServiceRequest = "keep" | "build" | "take over";

const { scope } = self.registration;
const site = new Site(self.tensorwebSite, scope);
const store = new Store(scope);
const { id, live, shared } = site.table;

/** The browser's HTTP cache may hold files of an older build. */
const FRESH: RequestInit = { cache: "no-cache" };

/**
 * Whether the host's page of another build was served, which then gets the host's files.
 * Stored with the files, since browsers stop and start service workers as they like.
 */
let retired = store.isRetired(id);

function retire(isRetired: boolean): Promise<void> {
  retired = Promise.resolve(isRetired);
  return store.retire(id, isRetired);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const file = site.find(request);
  if (!file) return;
  event.respondWith(file.path === START ? start(request, file) : serve(event, file));
});

/** Respond with a file of the build whose page was served last. */
async function serve(event: FetchEvent, file: SiteFile): Promise<Response> {
  return (await retired) ? isolate(fetch(event.request, FRESH)) : answer(event, file);
}

/** Respond with a file of this build: from the cache, else from the network, else with an error. */
async function answer(event: FetchEvent, file: SiteFile): Promise<Response> {
  const { digest, headers } = file;
  const cached = await store.find(digest);
  if (cached) return new Response(cached, { headers });
  const fetched = await fetch(event.request, FRESH);
  if (!fetched.ok || fetched.redirected) return fetched;
  const { response, bytes } = await pass(fetched, digest, headers);
  event.waitUntil(settle(digest, bytes));
  if (response) return response;
  // Nothing depends on a document, so that one of another build is better than none.
  if (file.path.startsWith(DOCUMENTS)) return isolate(fetch(event.request, FRESH));
  return live ? fetch(event.request) : Response.error();
}

async function settle(digest: string, coming: Promise<ArrayBuffer | null>): Promise<void> {
  const bytes = await coming;
  if (bytes) await store.keep(digest, bytes).catch(() => undefined);
  else await self.registration.update().catch(() => undefined);
}

/** Respond with the page: this build's if all of it is cached, else the host's, of any build. */
async function start(request: Request, file: SiteFile): Promise<Response> {
  const { digest, headers } = file;
  const cached = await store.find(digest);
  const page = async (): Promise<Response> => {
    await retire(false);
    return new Response(cached, { headers });
  };
  if (cached && (await store.isComplete(id)) && !(live && (await isReplaced()))) return page();
  let response: Response;
  try {
    response = await fetch(request, FRESH);
  } catch (error) {
    if (cached) return page();
    throw error;
  }
  if (!response.ok || response.type !== "basic" || response.redirected) return response;
  const bytes = await response.clone().arrayBuffer();
  const isRetired = (await digestOf(bytes)) !== digest;
  await retire(isRetired);
  if (isRetired) {
    void self.registration.update().catch(() => undefined);
    return isolate(response);
  }
  await store.keep(digest, bytes).catch(() => undefined);
  return new Response(bytes, { headers });
}

/** Whether the host has another build; false where it cannot be reached. */
async function isReplaced(): Promise<boolean> {
  const { path, digest } = site.file("build.json");
  try {
    const response = await fetch(scope + path, { cache: "no-store" });
    return response.ok && (await digestOf(await response.arrayBuffer())) !== digest;
  } catch {
    return false;
  }
}

/** Add our headers to a file of another build. */
async function isolate(coming: Response | Promise<Response>): Promise<Response> {
  const response = await coming;
  if (response.type !== "basic") return response;
  const { body, status, statusText } = response;
  return new Response(body, { status, statusText, headers: { ...Object.fromEntries(response.headers), ...shared } });
}

self.addEventListener("install", (event) => event.waitUntil(install()));

/** Replace a build that works offline only by one that does so too, one update at a time. */
async function install(): Promise<void> {
  const serves = self.registration.active !== null && (await store.isComplete());
  if (serves && !live) await collect();
  else await self.skipWaiting();
}

self.addEventListener("activate", (event) => event.waitUntil(store.prune(site.digests, id)));

self.addEventListener("message", (event: ExtendableMessageEvent) => {
  const [port] = event.ports;
  const request = event.data as ServiceRequest;
  if (request === "build") port?.postMessage(id);
  if (request === "keep") event.waitUntil(collect().catch(() => undefined));
  if (request === "take over") event.waitUntil(takeOver().then((isDone) => port?.postMessage(isDone)));
});

/**
 * Cache every file that a later visit needs, and replace damaged ones. Fails if
 * the host has another build.
 */
async function collect(): Promise<void> {
  for (const file of site.cached) {
    if (await store.find(file.digest)) continue;
    const bytes = await download(site.address(file), file.digest);
    if (!bytes) throw new Error(`the host has no ${file.path} of this build`);
    await store.keep(file.digest, bytes);
  }
  await store.complete(id);
}

/** Take over the pages, unless other pages are open: they would get files of two builds. */
async function takeOver(): Promise<boolean> {
  const open = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const pages = open.filter(({ url, frameType }) => frameType === "top-level" && url.startsWith(scope));
  if (pages.length > 1) return false;
  await self.skipWaiting();
  return true;
}
