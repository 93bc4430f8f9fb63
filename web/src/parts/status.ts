/** The status bar: saved state, cursor position, runtime. */

import { el, find } from "./dom";
import { nameOf } from "./device";
import type { Page } from "../page/page";
import type { Part, View } from "../page/view";

export function mountStatus(host: HTMLElement, _page: Page): Part {
  const cursor = find("#cursor");
  const about = find("#about");
  let drawn = "";
  const help = find("#editor-help");
  const isEditor = (target: EventTarget | null): boolean => target instanceof Element && target.matches(`[aria-describedby~="${help.id}"]`);
  document.addEventListener("keydown", ({ key, target }) => {
    if (key === "Tab" && isEditor(target)) help.classList.remove("unasked");
  });
  document.addEventListener("focusout", ({ target }) => {
    if (isEditor(target)) help.classList.add("unasked");
  });
  return {
    update: (view) => {
      const [state, words] = savedText(view);
      host.dataset["saved"] = state;
      if (host.textContent !== words) host.textContent = words;
      const adapter = view.started ? nameOf(view) : "";
      const faults = view.run?.faults ?? [];
      const now = `${view.python} ${adapter} ${faults.join()}`;
      if (now === drawn) return;
      drawn = now;
      about.replaceChildren(...aboutText(view, adapter, faults));
    },
    cursorMoved: (line, column) => {
      cursor.replaceChildren(
        el("span", { class: "long" }, "Ln "),
        String(line),
        el("span", { class: "long" }, ", Col "),
        el("span", { class: "short", "aria-hidden": "true" }, ":"),
        String(column),
      );
    },
  };
}

function savedText({ document, edited, typing, unstored }: View): [string, string] {
  if (unstored) return ["refused", "Not saved"];
  if (typing) return ["typing", "Saving…"];
  if (document.kind === "own" || edited) return ["kept", "Saved"];
  return ["unchanged", document.id === "" ? "" : "Unchanged"];
}

/** Versions of tensorweb and Python, the device, and whether the page is isolated. */
function aboutText({ started }: View, adapter: string, faults: string[]): (Node | string)[] {
  if (!started) return [];
  const isolation = globalThis.crossOriginIsolated ? "isolated" : "not isolated";
  const long = (text: string): HTMLElement => el("span", { class: "long" }, text);
  const title = faults.length ? `This GPU has faults, which kernels avoid: ${faults.join("; ")}` : "";
  const device = el("span", { class: "adapter", title }, `${adapter} · `);
  return [device, long("tensorweb "), started.version, long(` · Python ${started.python}`), ` · ${isolation}`];
}
