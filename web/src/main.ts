/** Starts the page: parts first, then the program to edit, then Python. */

import { Page } from "./page";
import { PANELS } from "./panels";
import { find } from "./dom";

declare global {
  /** For tests and the curious: what the page knows. */
  var tensorwebPage: Page | undefined;
}

const page = new Page();
globalThis.tensorwebPage = page;
for (const { host, mount } of PANELS) page.add(mount(find(host), page));

addEventListener("hashchange", () => void page.openAddress());
addEventListener("pagehide", () => page.session.dispose());
addEventListener("pageshow", (event) => {
  if (event.persisted) void page.session.restart();
});
addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  page.warn(`Something went wrong on the page: ${String(event.reason)}`);
});

void page.session.start();
void page.openFirst();
