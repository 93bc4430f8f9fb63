/** Starts the page: panels and parts first, then the program to edit, then Python. */

import { Page } from "./page/page";
import { PANELS } from "./panels";
import { openEditor } from "./panels/editor/editor";
import { PARTS } from "./parts";
import { el, find } from "./parts/dom";
import { mountFirstLook } from "./parts/first-look";
import { mountLayout } from "./parts/layout";

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
  const page = new Page(PANELS, openEditor);
  globalThis.tensorwebPage = page;
  // What is not laid out cannot be measured, so this part is told first.
  page.add(mountLayout(document.body, page));
  for (const { host, mount } of PARTS) page.add(mount(find(host), page));
  for (const panel of PANELS) page.addPanel(panel, panel.mount(find(`#${panel.id}`), page));

  page.add(mountFirstLook(page));

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
