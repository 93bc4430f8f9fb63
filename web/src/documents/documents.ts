/**
 * The documents' own script: colours, search, keys, addresses, programs, and pages that stay offline.
 *
 * A plain script at the begin of the body, so that no page appears in other colours first.
 */

import type { TensorWeb } from "../element/tensor-web";
import { decodeCode } from "../page/link";
import { themeAfter, themeNamed } from "../page/media";
import { DOCUMENTED, PREFIX, recall, remember } from "../page/storage";

/** The folder of the documents. */
const ROOT = new URL(document.documentElement.dataset["content_root"] ?? "./", location.href);

const KEY = "theme";
/** Furo's words for our themes, in its style sheet. */
const FUROS = { system: "auto", light: "light", dark: "dark" } as const;

function colour(): void {
  const theme = themeNamed(recall(KEY));
  document.documentElement.dataset["theme"] = theme;
  document.body.dataset["theme"] = FUROS[theme];
}

colour();
addEventListener("storage", ({ key }) => {
  if (key === PREFIX + KEY || key === null) colour();
});

// Furo's own listeners, which these come before, would store the choice under another key.
addEventListener(
  "click",
  (event) => {
    if (!(event.target instanceof Element) || !event.target.closest(".theme-toggle")) return;
    event.stopPropagation();
    remember(KEY, themeAfter(themeNamed(recall(KEY))));
    colour();
  },
  { capture: true },
);

// The policy of the site lets no form be sent, wherever it leads.
addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== "get") return;
  event.preventDefault();
  const address = new URL(form.action);
  for (const [name, value] of new FormData(form)) address.searchParams.set(name, String(value));
  location.assign(address);
});

/** Let keys reach what scrolls sideways, and nothing else. */
const scrolling = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});

addEventListener("DOMContentLoaded", () => {
  for (const wide of document.querySelectorAll("article pre, .table-wrapper")) scrolling.observe(wide);
});

addEventListener("load", () => {
  // Some browsers have no service workers, and hosts without https get none.
  if (!("serviceWorker" in navigator)) return;
  const script = new URL("../service-worker.js", ROOT);
  navigator.serviceWorker.register(script, { updateViaCache: "none" }).catch(() => undefined);
});

/** What stands for the address of the site in the documents' sources. */
const PLACEHOLDER = "https://example.org/play/";

// A reader copies lines that work: the site that serves the page is at its own address.
addEventListener("DOMContentLoaded", () => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = node.nodeValue ?? "";
    if (text.includes(PLACEHOLDER)) node.nodeValue = text.replaceAll(PLACEHOLDER, new URL("../", ROOT).href);
  }
});

// The playground says where the program is from; a link that was passed on is a stranger's.
addEventListener("click", (event) => {
  const link = event.composedPath().find((each) => each instanceof HTMLAnchorElement);
  if (link?.hash.startsWith(CODE)) remember(DOCUMENTED, link.hash.slice(CODE.length));
});

addEventListener("DOMContentLoaded", () => {
  for (const program of document.querySelectorAll<HTMLElement>(".program")) {
    const button = program.querySelector<HTMLButtonElement>(".program-run");
    if (!button) continue;
    button.hidden = false;
    button.addEventListener("click", () => void open(program, button));
  }
});

/** What addresses of programs begin with. */
const CODE = "#code=";

/** Replace a block by an element that runs it; all elements of a page share one Python. */
async function open(program: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const { hash } = new URL(program.querySelector("a")?.href ?? "");
  button.disabled = true;
  try {
    await import(new URL("../tensor-web.js", ROOT).href);
    const element = document.createElement("tensor-web") as TensorWeb;
    element.value = await decodeCode(hash.slice(CODE.length));
    element.setAttribute("label", (button.ariaLabel ?? "").replace("Run ", ""));
    program.replaceChildren(element);
    // Not the editor, which would open a keyboard on a phone and scroll to its cursor.
    element.shadowRoot?.querySelector<HTMLElement>(".run")?.focus();
    const { error } = await element.run();
    const output = program.nextElementSibling;
    if (!output?.matches(".highlight-text")) return;
    // It is what the block prints elsewhere; here it would stand below what it printed now.
    if (!error) output.remove();
    else if (output instanceof HTMLElement) output.dataset["note"] = "Recorded output";
  } catch (error) {
    console.error(error);
    button.disabled = false;
  }
}
