/** A value as HTML, drawing or picture; nothing in it can run or reach the page. */

import { el } from "../../parts/dom";
import type { Rich, Threads } from "../../page/protocol";
import { cleanHtml } from "./clean-html";
import { verdictView } from "./verdict";
import "./rich.css";

const LEAST_HEIGHT = 24;
const MOST_HEIGHT = 480;

/** Programs write HTML for white paper; its own policy holds also in pages that have none. */
const PAPER = `<!doctype html><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"><style>
:root { color-scheme: light; background: #fff; color: #1b2331; font: 13px/1.45 system-ui, sans-serif; }
body { margin: 8px; width: max-content; min-width: calc(100% - 16px); box-sizing: border-box; }
table { border-collapse: collapse; } th, td { padding: 3px 9px; text-align: end; }
</style>`;

/** Draw a value; `what` is its label for screen readers. */
export function richView({ kind, data }: Rich, what: string): HTMLElement {
  if (kind === "html") return htmlFrame(data, `HTML of ${what}`);
  if (kind === "verdict") return verdictView(data, drawThreads);
  if (kind === "text") return el("pre", { class: "text" }, data);
  // Scripts in an `img` never run, also in SVG.
  const address = kind === "svg" ? `data:image/svg+xml;base64,${encoded(data)}` : `data:image/${kind};base64,${data}`;
  const image = el("img", { class: "rich-image", src: address, alt: `Picture of ${what}` });
  image.addEventListener("error", () => image.replaceWith(el("p", { class: "cut" }, `The picture of ${what} is damaged.`)));
  return image;
}

async function drawThreads(threads: Threads): Promise<HTMLElement> {
  const { mountThreads } = await import("../kernels/threads");
  return mountThreads(threads, null);
}

/**
 * Without `allow-scripts` nothing in the frame runs, and the page's policy is the frame's
 * as well, so that it reaches no other site; elements that would still connect to one are
 * removed by `cleanHtml`. The frame has our origin, so its height can be measured.
 */
export function htmlFrame(html: string, title: string): HTMLElement {
  const frame = el("iframe", { class: "rich-frame", title, sandbox: "allow-same-origin", srcdoc: PAPER + cleanHtml(html) });
  frame.style.height = `${LEAST_HEIGHT}px`;
  const fit = (): void => {
    const height = frame.contentDocument?.documentElement.scrollHeight ?? LEAST_HEIGHT;
    frame.style.height = `${Math.min(Math.max(height, LEAST_HEIGHT), MOST_HEIGHT)}px`;
  };
  frame.addEventListener("load", fit);
  return frame;
}

function encoded(text: string): string {
  let binary = "";
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
