/** Makes the link to the open program and hands it to the reader. */

import { encodeCode } from "./link";
import type { Page } from "./page";

const TOO_LONG = 16_000;

/** Put a link to the program, as its results are looked at, into the clipboard, or else into the address. */
export async function share(page: Page): Promise<void> {
  const code = await encodeCode(page.editor.source());
  const address = new URL(location.href);
  const { result, started, tensor } = page.view;
  const fields = new URLSearchParams({ code });
  const isFirst = result === page.panels.find(({ pane }) => pane === "results")?.id;
  if (tensor) fields.set("t", tensor);
  if (!isFirst) fields.set("tab", result);
  if (started) fields.set("v", started.version);
  address.search = "";
  address.hash = fields.toString();
  const long = address.href.length > TOO_LONG ? " It is long; some programs cut it." : "";
  try {
    await navigator.clipboard.writeText(address.href);
    page.tell({ kind: "info", text: `The link is copied.${long}` });
  } catch {
    page.workspace.setAddress(address.hash);
    const text = `The link is in the address bar; copy it from there.${long}`;
    page.tell({ kind: "info", text });
  }
}
