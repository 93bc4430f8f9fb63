/** Makes a link to the open program, and the HTML that embeds it in other pages. */

import { encodeCode, LONGEST_LOOK, LONGEST_PACKED_LOOK } from "./link";
import { focused, type Focus } from "./focus";
import type { Page } from "./page";
import type { Fingerprint } from "./protocol";
import type { View } from "./view";

/** What a link shows of its program. */
export type Looked = Pick<View, "result" | "tensor" | "viewSettings"> & { focus: Focus | null };

/** Some applications cut longer addresses. */
const LONGEST_COMMON = 16_000;
const FRAME_HEIGHT = 480;

/** The shared address, and the HTML that embeds it in another page. */
export interface Shared {
  link: string;
  frame: string;
  isLong: boolean;
}

/** Make a link to the program with what is looked at and the fingerprints of its results. */
export async function shared(page: Page, results: Fingerprint[] | null, looked: Looked = page.view): Promise<Shared> {
  const { started, document, origins } = page.view;
  const { result, tensor, viewSettings, focus } = looked;
  const fields = new URLSearchParams({ code: await encodeCode(page.editor.source()) });
  const isFirst = result === page.panels.find(({ pane }) => pane === "results")?.id;
  if (tensor) fields.set("t", tensor);
  if (!isFirst) fields.set("tab", result);
  // View settings belong to the tensors of one program only.
  if (viewSettings && origins.tensors?.document === document.id) fields.set("look", await encodeCode(JSON.stringify(viewSettings)));
  const seen = focus && focusOf(focus, result);
  const packed = seen && (await packFocus(seen));
  if (packed) fields.set("at", packed);
  if (results) fields.set("fp", await encodeCode(JSON.stringify(results)));
  if (started) fields.set("v", started.version);
  const link = new URL(location.pathname, location.href);
  link.hash = fields.toString();
  const embedded = new URL("embed/", link);
  embedded.hash = link.hash;
  return {
    link: link.href,
    frame: frameOf(embedded.href, document.title),
    isLong: link.href.length > LONGEST_COMMON,
  };
}

/** Pack a focus for the address without its first cells, until a link may be that long; null if it never may. */
export async function packFocus(focus: Focus): Promise<string | null> {
  let first = 0;
  do {
    const text = JSON.stringify({ ...focus, why: focus.why.slice(first) });
    const packed = text.length <= LONGEST_LOOK ? await encodeCode(text) : null;
    if (packed && packed.length <= LONGEST_PACKED_LOOK) return packed;
  } while (++first < focus.why.length);
  return null;
}

/** The part of a focus that a panel shows. */
function focusOf({ why, film, kernel, range, memory }: Focus, panel: string): Focus | null {
  if (panel === "why") return focused(null, { why });
  if (panel === "film") return focused(null, { film });
  if (panel === "timeline") return focused(null, { range });
  if (panel === "memory") return focused(null, { memory });
  return panel === "kernels" ? focused(null, { kernel }) : null;
}

function frameOf(address: string, title: string): string {
  // Outside the page it loads nothing; the browser writes what needs escaping.
  const frame = document.createElement("iframe");
  const words = { src: address, title, width: "100%", height: FRAME_HEIGHT, style: "border: 0", loading: "lazy" };
  for (const [name, value] of Object.entries(words)) frame.setAttribute(name, String(value));
  return frame.outerHTML;
}

/** Why the shown results are not those of the program; null if they are. */
export function whyNoResults({ state, document, origins, run, editedSince, python }: View): string | null {
  const { output, tensors } = origins;
  const isWhole = run !== null && !run.error && !run.stopped && !tensors?.recorded;
  const isOurs = tensors !== null && tensors === output && tensors.document === document.id && tensors.python === python;
  if (state === "running") return "The program runs; wait for its end.";
  if (!isOurs || !isWhole || editedSince) return "Run the program to its end first.";
  return null;
}
