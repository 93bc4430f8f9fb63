/** Starts the page: panels and parts first, then the program to edit, then Python. */

import { Page } from "./page/page";
import { PANELS } from "./panels";
import { openEditor } from "./panels/editor/editor";
import { PARTS } from "./parts";
import { el, find } from "./parts/dom";
import { mountComparison } from "./parts/comparison";
import { mountFirstLook } from "./parts/first-look";
import { mountLayout } from "./parts/layout";
import { resumeTour } from "./parts/tour";

declare global {
  /** The page's state, for tests and debugging. */
  var tensorwebPage: Page | undefined;
}

/**
 * Show only a link that opens the page outside the frame: the surrounding page could cover
 * this one, or change the program just before a click (clickjacking).
 */
function refuseFrame(): void {
  const link = el("a", { href: location.href, target: "_blank", rel: "noopener" }, "Open tensorweb in a tab of its own");
  const rest = ": other pages show its programs by the address embed/.";
  document.body.replaceChildren(el("p", { class: "refused" }, link, rest));
}

function begin(): void {
  const page = new Page(PANELS, openEditor);
  globalThis.tensorwebPage = page;
  // Hidden elements cannot be measured, so the layout is updated first.
  page.add(mountLayout(document.body, page));
  for (const { host, mount } of PARTS) page.add(mount(find(host), page));
  for (const panel of PANELS) page.addPanel(panel, panel.mount(find(`#${panel.id}`), page));

  page.add(mountFirstLook(page));
  page.add(mountComparison(page));
  resumeTour(page);

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

// A page that is about to reload or to leave must not draw.
await globalThis.tensorwebEarly;
if (window.top !== window) refuseFrame();
else begin();
