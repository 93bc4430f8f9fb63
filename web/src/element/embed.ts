/**
 * The compact page for frames of other sites: one `<tensor-web>` with the program of the
 * address. It neither reads nor changes anything of the reader, and runs nothing by itself.
 */

import { decodeCode, readAddress } from "../page/link";
import { MAIN, unpack } from "../page/program";
import type { Example } from "../page/view";
import { el, find } from "../parts/dom";
import type { TensorWeb } from "./tensor-web";

/** How long Run is blocked after the address has changed the program: a click meant another one. */
const HOLD_MS = 500;
const SITE = new URL("../", document.baseURI);
const FOREIGN = "This program came with a link. Read it, then press Run if you trust it.";

interface Shown {
  title: string;
  source: string;
  /** A sentence about where the program comes from; empty for none. */
  note: string;
  /** The page with the same program, as long as it is not edited. */
  href: string;
}

async function programOf({ hash, search }: Location): Promise<Shown> {
  const { code, example } = readAddress({ hash, search });
  const query = new URLSearchParams(search);
  query.delete("embed");
  const href = new URL(`./?${query}`.replace(/\?$/, ""), SITE).href + hash;
  if (code !== null) {
    try {
      return { title: "Shared program", source: await decodeCode(code), note: FOREIGN, href };
    } catch {
      return first("The program in this link is damaged and could not be opened.");
    }
  }
  if (example === null) return first("");
  const found = (await examples()).find(({ file }) => file.replace(/\.py$/, "") === example);
  if (!found) return first(`There is no example named “${example.slice(0, 80)}”.`);
  return { title: found.title, source: found.source, note: "", href };
}

async function first(note: string): Promise<Shown> {
  const [example] = await examples();
  return { title: example?.title ?? "", source: example?.source ?? "", note, href: SITE.href };
}

async function examples(): Promise<Example[]> {
  try {
    const response = await fetch(new URL("examples.json", SITE));
    return response.ok ? ((await response.json()) as Example[]) : [];
  } catch {
    return [];
  }
}

let newest = 0;

async function show(isChange: boolean): Promise<void> {
  const id = ++newest;
  const { title, source, note, href } = await programOf(location);
  await customElements.whenDefined("tensor-web");
  if (id !== newest) return;
  const theme = new URLSearchParams(location.search).get("theme") ?? "auto";
  const element = el("tensor-web", { theme, label: title, height: "100%", href, base: SITE.href }) as TensorWeb;
  const [main, ...files] = unpack(source);
  element.files = files;
  const host = find("main");
  find(".note").textContent = note;
  host.querySelector("tensor-web")?.remove();
  host.append(element);
  element.value = main?.text ?? "";
  document.title = title || MAIN;
  if (!isChange) return;
  element.inert = true;
  setTimeout(() => (element.inert = false), HOLD_MS);
}

addEventListener("hashchange", () => void show(true));
void show(false);
