/**
 * Saves the program with its result as one HTML file that needs no network. Its own script
 * adds what lines made, tensors, kernels and memory; without it the result can be read.
 */

import { pythonLanguage } from "@codemirror/lang-python";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { fileNameOf, save } from "../page/download";
import { base64Of, encodeCode } from "../page/link";
import type { Scheme } from "../page/media";
import type { Page } from "../page/page";
import type { ProgramFile } from "../page/program";
import type { Heatmap, TensorRecord } from "../page/protocol";
import { recordingOf, type Recording } from "../page/recording";
import { messageOf } from "../page/session";
import { decodeHeatmap, drawWhole } from "../panels/tensors/heatmap";
import { isPicture, wholeOf } from "../panels/tensors/whole";
import { el, find } from "./dom";
import "./standalone.css";

/** The file's policy: nothing but its script runs or is fetched, whatever the output contains. */
const POLICY = "default-src 'none'; script-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'";
const ROOM = { width: 480, height: 320 };
/** Tensors of fewer elements show their digits and no picture. */
const LEAST_ELEMENTS = 16;
/** Host names of the reader's own machine, which are useless to others. */
const LOCAL = /^(localhost|127\.|\[::1\]|.*\.localhost$)/;

export async function saveAsPage(page: Page): Promise<void> {
  // What was typed just now makes the lines of the run another text's.
  page.editor.flush();
  const { document: shown } = page.view;
  const site = siteAddress();
  try {
    const link = site && `${site}#code=${await encodeCode(page.editor.source())}`;
    save(`${fileNameOf(shown.title)}.html`, await standalonePage(page, link), "text/html");
  } catch (error) {
    page.warn(`The file was not saved: ${messageOf(error)}`);
  }
}

/** The public address of this site: from its page, else the current one; null on localhost. */
function siteAddress(): string | null {
  const canonical = document.querySelector<HTMLLinkElement>("link[rel=canonical]")?.href;
  if (canonical) return canonical;
  return LOCAL.test(location.hostname) ? null : new URL(location.pathname, location.href).href;
}

/** The file's text; `link` opens the program in tensorweb, null where the site has no address. Throws if a run begins meanwhile. */
export async function standalonePage(page: Page, link: string | null): Promise<string> {
  const { document: shown, origins, editedSince, started } = page.view;
  const made = document.implementation.createHTMLDocument(shown.title);
  const hasRun = origins.output !== null && origins.output.document === shown.id;
  const version = started ? ` ${started.version}` : "";
  const facts = el("p", { class: "saved-facts" }, `A program for tensorweb${version}, saved on ${new Date().toLocaleDateString("en-CA")}.`);
  if (link) facts.append(" ", el("a", { href: link }, "Open it in tensorweb"), ".");
  const files = page.editor.files();
  const code = files.flatMap((file) => [files.length > 1 ? el("h3", {}, file.name) : "", codeOf(file)]);
  const result = hasRun ? await resultOf(page) : el("p", { class: "empty" }, "It has not been run.");
  const note = hasRun && editedSince ? el("p", { class: "saved-facts" }, "The program was edited after this run; run it to save what its lines make.") : "";
  // The lines of a run are not those of an edited text.
  const recording = hasRun && !editedSince ? await recordingOf(page) : null;
  if (page.view.origins.output?.run !== origins.output?.run) throw new Error("the program ran again meanwhile. Save it once more.");
  const script = recording && (await reportScript(page));
  made.documentElement.lang = "en";
  made.head.prepend(
    el("meta", { charset: "utf-8" }),
    el("meta", { "http-equiv": "Content-Security-Policy", content: script ? POLICY.replace("'none'; style", `'sha256-${await digestOf(script.code)}'; style`) : POLICY }),
    el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    el("meta", { name: "color-scheme", content: "light dark" }),
  );
  made.body.className = "saved-page";
  made.body.append(
    el("main", {}, el("h1", {}, shown.title), facts, el("h2", {}, "Program"), ...code, el("h2", {}, "Result"), note, result),
  );
  made.head.append(el("style", {}, stylesFor(made), script?.styles));
  if (script) made.body.append(recordingElement(recording), el("script", {}, script.code));
  return `<!doctype html>\n${made.documentElement.outerHTML}\n`;
}

function codeOf({ name, text }: ProgramFile): HTMLElement {
  const code = el("code");
  if (!name.endsWith(".py")) code.append(text);
  else {
    const put = (piece: string, classes: string): void =>
      code.append(classes ? el("span", { class: classes }, piece) : piece);
    highlightCode(text, pythonLanguage.parser.parse(text), classHighlighter, put, () => code.append("\n"));
  }
  return el("pre", { class: "saved-code", "data-file": name, tabindex: 0, "aria-label": `Code of ${name}` }, code);
}

/** JSON cannot hold bytes; a text inside a script cannot end it without this sign. */
function recordingElement(recording: Recording): HTMLElement {
  const plain = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? base64Of(value) : value);
  const text = JSON.stringify(recording, plain).replaceAll("<", "\\u003c");
  return el("script", { type: "application/json", id: "recording" }, text);
}

/** What draws a report, as the site has it; null, with a warning, where it cannot be fetched. */
async function reportScript(page: Page): Promise<{ code: string; styles: string } | null> {
  try {
    const [code, styles] = await Promise.all([fetched("report.js", "javascript"), fetched("report.css", "css")]);
    return { code, styles };
  } catch (error) {
    page.warn(`The file has the output only, without tensors and kernels: ${messageOf(error)}`);
    return null;
  }
}

/** The text of a file of the site; servers may send a page instead of a file. */
async function fetched(name: string, type: string): Promise<string> {
  const response = await fetch(name);
  const sent = response.headers.get("content-type") ?? "";
  if (!response.ok) throw new Error(`the site answered ${response.status} to ${name}.`);
  if (!sent.includes(type)) throw new Error(`the site sent ${name} as “${sent}”.`);
  return response.text();
}

async function digestOf(text: string): Promise<string> {
  return base64Of(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** A copy of the output panel, with buttons as text and canvases as images. */
async function resultOf(page: Page): Promise<HTMLElement> {
  const seen = find(".output-content");
  const copy = seen.cloneNode(true) as HTMLElement;
  for (const control of copy.querySelectorAll(".digits > button, .prompt, .copy, .retry")) control.remove();
  for (const canvas of copy.querySelectorAll("canvas")) canvas.remove();
  for (const one of copy.querySelectorAll("button")) one.replaceWith(el("span", { class: one.className }, one.textContent));
  for (const frame of copy.querySelectorAll("iframe")) frame.setAttribute("sandbox", "");
  for (const block of copy.querySelectorAll("pre")) {
    // HTML parsers drop the first line break of `pre`.
    if (block.textContent?.startsWith("\n")) block.prepend("\n");
  }
  const { origins, python } = page.view;
  // Python's tensors may be of another run by now.
  const isThere = origins.tensors === origins.output && origins.output?.python === python;
  for (const card of isThere ? copy.querySelectorAll<HTMLElement>(".tensor-card") : []) {
    const display = Number(card.dataset["display"]);
    const tensor = page.view.tensors.find(({ displays }) => displays.includes(display));
    if (tensor && isPicture(tensor) && tensor.size >= LEAST_ELEMENTS) card.append(...(await pictures(page, tensor)));
  }
  // Styles select the panel by its id.
  return el("section", { id: seen.closest("[id]")?.id ?? "", "aria-label": "Result" }, copy);
}

/** A tensor's picture for light and for dark; nothing if Python has freed the tensor. */
async function pictures(page: Page, tensor: TensorRecord): Promise<HTMLElement[]> {
  const whole = wholeOf(tensor);
  const coarse = (): Promise<Heatmap | null> => page.request("heatmap", whole).catch(() => null);
  const map = await page.request("heatmap", { ...whole, size: "full" }).catch(coarse);
  if (!map) return [];
  return (["light", "dark"] satisfies Scheme[]).map((scheme) => {
    const canvas = el("canvas");
    drawWhole(canvas, decodeHeatmap(map, tensor.dtype, scheme), ROOM);
    const { width, height } = canvas.style;
    const image = el("img", { class: `saved-picture saved-${scheme}`, src: canvas.toDataURL(), alt: `Picture of ${tensor.name}` });
    Object.assign(image.style, { width, height });
    return image;
  });
}

/** The page's styles that apply to an element of the file. */
function stylesFor(made: Document): string {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const isUsed = (rule: CSSRule): boolean => {
    if (rule instanceof CSSMediaRule) return [...rule.cssRules].some((inner) => isOfTheFile(inner) && isUsed(inner));
    return rule instanceof CSSStyleRule && made.querySelector(withoutStates(rule.selectorText)) !== null;
  };
  return rules.filter(isUsed).map(({ cssText }) => cssText).join("\n");
}

/** Media rules of the page arrange its panes; they are omitted. */
function isOfTheFile(rule: CSSRule): boolean {
  return rule instanceof CSSStyleRule && rule.selectorText.includes(".saved-");
}

const STATES = "::?(?:before|after|hover|focus-visible|focus|marker|placeholder|backdrop|-[\\w-]+)\\b";
const ALONE = new RegExp(`(^|[\\s,>+~])${STATES}`, "g");
const ADDED = new RegExp(STATES, "g");

/** Remove pseudo-classes from a selector, so that it matches elements in any state. */
function withoutStates(selector: string): string {
  return selector.replace(ALONE, "$1*").replace(ADDED, "");
}
