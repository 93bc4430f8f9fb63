/** The files that programs open: put there by hand or by a program, opened, downloaded. */

import { button, el } from "../../parts/dom";
import { bytes } from "../../parts/format";
import { save } from "../../page/download";
import type { Page, Part } from "../../page/page";
import type { FileRecord } from "../../page/protocol";
import "./files.css";

const MOST_BYTES = 24_000_000;
const LONGEST_PROGRAM = 2_000_000;
const PROGRAM = /\.py$/i;

export function mountFiles(host: HTMLElement, page: Page): Part {
  const chosen = el("input", { type: "file", multiple: true, id: "files-chosen", class: "visually-hidden" });
  const add = button("Add files…", () => chosen.click());
  const hint = el("p", { class: "files-hint" }, "Drop files anywhere on the page: a program finds them by name, as in open(\"data.csv\"). They stay until Python starts again. What ends in .py opens as a program of yours.");
  const list = el("ul", { class: "files-list", "aria-label": "Files" });
  chosen.setAttribute("aria-label", "Add files");
  chosen.tabIndex = -1;
  host.append(el("div", { class: "files-head" }, add, chosen), hint, list);
  let known = "";

  const draw = (files: readonly FileRecord[]): void => {
    list.replaceChildren(...files.map((file) => row(file, page)));
  };
  const refresh = (): void => {
    page.ask("files", {}).then(draw, () => (known = ""));
  };
  /** Programs open as the reader's own, each; what else comes goes to the folder. */
  const take = async (files: readonly File[]): Promise<void> => {
    const programs = files.filter(({ name }) => PROGRAM.test(name));
    const others = files.filter((file) => !programs.includes(file));
    for (const file of others) {
      try {
        draw(await put(page, file));
      } catch (error) {
        page.warn(`“${file.name}” was not added: ${reason(error)}`);
      }
    }
    if (others.length) page.show("files");
    for (const file of programs) {
      if (file.size > LONGEST_PROGRAM) page.warn(`“${file.name}” has ${bytes(file.size)}; a program has ${bytes(LONGEST_PROGRAM)} at most.`);
      else page.library.create(file.name, await file.text());
    }
  };
  chosen.addEventListener("change", () => {
    void take([...(chosen.files ?? [])]);
    chosen.value = "";
  });
  takeDrops((files) => void take(files));
  return {
    update: (view) => {
      const now = `${view.python} ${view.origins.run?.run ?? 0} ${view.state}`;
      if (now === known || view.state === "running" || !view.started) return;
      known = now;
      refresh();
    },
  };
}

/** Files dropped anywhere are taken; the editor would write their text into the program. */
function takeDrops(take: (files: File[]) => void): void {
  const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (holdsFiles(event)) event.preventDefault();
  });
  const drop = (event: DragEvent): void => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    take([...(event.dataTransfer?.files ?? [])]);
  };
  document.addEventListener("drop", drop, { capture: true });
}

async function put(page: Page, file: File): Promise<FileRecord[]> {
  if (!page.session.isIdle) throw new Error("Python is busy; add it when nothing runs.");
  if (file.size > MOST_BYTES) throw new Error(`it has ${bytes(file.size)}, more than ${bytes(MOST_BYTES)}.`);
  const data = toBase64(new Uint8Array(await file.arrayBuffer()));
  return page.ask("put", { name: file.name, data });
}

function row({ name, bytes: size }: FileRecord, page: Page): HTMLElement {
  const fetched = (use: (data: Uint8Array<ArrayBuffer>) => void) => () => {
    page.ask("take", { name }).then(
      ({ data }) => use(Uint8Array.from(atob(data), (character) => character.charCodeAt(0))),
      (error: unknown) => page.warn(reason(error)),
    );
  };
  const open = fetched((data) => page.library.create(name, new TextDecoder().decode(data)));
  const download = fetched((data) => save(name, data));
  return el(
    "li",
    { class: "file" },
    el("span", { class: "file-name" }, name),
    el("span", { class: "file-size" }, bytes(size)),
    PROGRAM.test(name) ? button("Open", open, { "aria-label": `Open ${name} as a program` }) : null,
    button("Download", download, { "aria-label": `Download ${name}` }),
  );
}

function reason(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).trim().split("\n").at(-1) ?? "";
}

function toBase64(data: Uint8Array): string {
  let text = "";
  for (let start = 0; start < data.length; start += 0x8000) {
    text += String.fromCharCode(...data.subarray(start, start + 0x8000));
  }
  return btoa(text);
}
