/**
 * The page's first script, inlined into its HTML: where the host does not isolate the page
 * its service worker does, after one reload; else Python begins to load at once.
 */

import { isServing, register } from "./page/service-worker-client";
import { openWorker, type WorkerChannel } from "./page/worker-origin";

const PATIENCE_MS = 3000;

/** Whether the page is about to reload to become cross-origin isolated. */
async function isLeaving(): Promise<boolean> {
  if (globalThis.crossOriginIsolated || !("serviceWorker" in navigator)) return false;
  // The reload has happened: a page served by the service worker is as isolated as it can be.
  if (navigator.serviceWorker.controller) return false;
  const [visit] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  if (visit?.type === "reload") return false;
  const tooLate = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), PATIENCE_MS));
  if (!(await Promise.race([register().then(isServing), tooLate]))) return false;
  location.reload();
  return true;
}

/** Whether the page is about to leave for the compact one, which `?embed=1` requests. */
function isCompact(): boolean {
  const query = new URLSearchParams(location.search);
  if (query.get("embed") !== "1") return false;
  query.delete("embed");
  location.replace(new URL(`embed/?${query}${location.hash}`, document.baseURI));
  return true;
}

async function begin(): Promise<WorkerChannel | null> {
  if (isCompact()) return new Promise(() => undefined);
  // In a frame the embedding page decides whether it is isolated.
  if (window.top !== window) return null;
  if (await isLeaving().catch(() => false)) return new Promise(() => undefined);
  return openWorker(window);
}

globalThis.tensorwebEarly = begin();
