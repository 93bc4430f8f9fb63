/** Starts the page: parts first, then the program to edit, then Python. */

import { Page } from "./page/page";
import { PANELS } from "./panels";
import { el, find } from "./parts/dom";

declare global {
  /** For tests and the curious: what the page knows. */
  var tensorwebPage: Page | undefined;
}

/** Another page that shows this one could change the program just before a click. */
function refuseFrame(): void {
  const link = el("a", { href: location.href, target: "_blank" }, "Open tensorweb in a tab of its own");
  document.body.replaceChildren(el("p", { class: "refused" }, link, ": it does not run inside other pages."));
}

function begin(): void {
  const page = new Page();
  globalThis.tensorwebPage = page;
  for (const { host, mount } of PANELS) page.add(mount(find(host), page));

  addEventListener("hashchange", () => void page.workspace.openAddress());
  addEventListener("pagehide", () => page.session.dispose());
  addEventListener("pageshow", (event) => {
    if (event.persisted) void page.session.restart();
  });
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    page.warn(`Something went wrong on the page: ${String(event.reason)}`);
  });

  void page.session.start();
  void page.workspace.openFirst();
}

if (window.top === window) begin();
else refuseFrame();
