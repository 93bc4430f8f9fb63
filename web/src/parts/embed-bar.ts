/** The bar of an embedded page instead of the toolbar: a title, and a link to the full page. */

import { el } from "./dom";
import { encodeCode } from "../page/link";
import type { Page } from "../page/page";
import type { Part } from "../page/view";

export function mountEmbeddedTitle(host: HTMLElement, _page: Page): Part {
  const title = el("span", { class: "document-title" });
  host.append(title);
  return { update: (view) => (title.textContent = view.document.title) };
}

/** A link that opens the current program in a new tab. */
export function mountOpenWhole(host: HTMLElement, page: Page): Part {
  const link = el("a", { class: "open-whole", target: "_blank", rel: "noopener" }, "Open in tensorweb");
  host.append(link);
  let pointed = "";
  const point = async (): Promise<void> => {
    const { document, edited } = page.view;
    const address = new URL(location.href);
    address.searchParams.delete("embed");
    // Edits exist on this page only, so the link contains them.
    const source = edited || document.kind === "own" ? page.editor.source() : "";
    const now = `${address.href} ${source}`;
    if (now === pointed) return;
    pointed = now;
    if (source) address.hash = `code=${await encodeCode(source)}`;
    if (now === pointed) link.href = address.href;
  };
  return { update: () => void point() };
}
