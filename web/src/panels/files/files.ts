/** The files of the open program: add, rename, delete, download. */

import { button, el } from "../../parts/dom";
import { bytes } from "../../parts/format";
import { save } from "../../page/download";
import { insertion, loadingLine } from "../../page/loading-line";
import type { Page } from "../../page/page";
import { MAIN, plainName } from "../../page/program";
import { mountRecorder } from "./recorder";
import "./files.css";
import type { OwnFile, Part } from "../../page/view";

const LONGEST_PROGRAM = 2_000_000;
const PROGRAM = /\.py$/i;
const HINT = "Drop files anywhere on the page: the program finds them by name, as in tw.load(\"data.npy\") or open(\"data.csv\"). They stay in this browser, with what the program writes. What ends in .py opens as a program of yours.";

export function mountFiles(host: HTMLElement, page: Page): Part {
  const chosen = el("input", { type: "file", multiple: true, id: "files-chosen", class: "visually-hidden" });
  const add = button("Add files…", () => chosen.click());
  const hint = el("p", { class: "files-hint" }, HINT);
  const list = el("ul", { class: "files-list", "aria-label": "Files" });
  const room = el("p", { class: "files-hint" });
  chosen.setAttribute("aria-label", "Add files");
  chosen.tabIndex = -1;
  const take = (files: readonly File[]): void => void takeFiles(page, files);
  const recorder = mountRecorder(
    (file) => take([unnamed(file, page)]),
    (reason) => page.warn(`Nothing was recorded: ${reason}.`),
  );
  const head = el("div", { class: "files-head" }, add, chosen, ...recorder.buttons);
  host.append(head, recorder.dom, hint, list, room);
  let known: readonly OwnFile[] = [];
  let drawn: readonly OwnFile[] | null = null;
  const draw = (): void => {
    // Do not redraw while a name is being typed.
    const label = list.querySelector("input")?.ariaLabel;
    if (known === drawn || known.some(({ name }) => label === `New name of ${name}`)) return;
    drawn = known;
    list.replaceChildren(...known.map((file) => row(file, page, draw)));
  };

  chosen.addEventListener("change", () => {
    take([...(chosen.files ?? [])]);
    chosen.value = "";
  });
  takeDrops(take);
  return {
    update: ({ ownFiles, room: { usage, quota } }) => {
      room.textContent = quota ? `This site uses ${bytes(usage)} of the ${bytes(quota)} that the browser gives it.` : "";
      known = ownFiles;
      draw();
    },
  };
}

/** Name a recording with an unused file name. */
function unnamed(file: File, page: Page): File {
  const taken = new Set(page.view.ownFiles.map(({ name }) => name));
  let name = file.name;
  for (let count = 2; taken.has(name); count++) name = file.name.replace(".", `-${count}.`);
  return new File([file], name);
}

/** Python files open as programs; other files are added, and a line that loads them is offered. */
async function takeFiles(page: Page, files: readonly File[]): Promise<void> {
  const programs = files.filter(({ name }) => PROGRAM.test(name));
  const others = files.filter((file) => !programs.includes(file));
  if (others.length) {
    page.show("files");
    offerLines(page, others.map(({ name }) => plainName(name)));
    await page.files.add(others);
  }
  for (const file of programs) {
    if (file.size > LONGEST_PROGRAM) page.warn(`“${file.name}” has ${bytes(file.size)}; a program has ${bytes(LONGEST_PROGRAM)} at most.`);
    else page.library.create(file.name, await file.text());
  }
}

function offerLines(page: Page, names: readonly string[]): void {
  const [first = ""] = names;
  const text = names.length > 1 ? `The program has ${names.length} more files.` : `The program has the file “${first}”.`;
  const label = names.length > 1 ? `Insert the ${names.length} lines that load them` : `Insert ${loadingLine(first)}`;
  page.notify({ kind: "info", text, actions: [{ label, run: () => insert(page, names) }] });
}

function insert(page: Page, names: readonly string[]): void {
  const { editor } = page;
  page.dismiss();
  editor.showFile(MAIN);
  const { change, line } = insertion(editor.files()[0]?.text ?? "", names);
  editor.change([change]);
  page.goTo(null, line, 0);
}

/** Accept files dropped anywhere, because the editor would insert their text. */
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

function row({ name, data, isKept }: OwnFile, page: Page, draw: () => void): HTMLElement {
  const title = el("span", { class: "file-name" }, name);
  const open = (): void => void data.text().then((text) => page.library.create(name, text));
  const line = loadingLine(name);
  const shown = el("li", { class: "file" });
  shown.append(
    title,
    el("span", { class: "file-size" }, bytes(data.size)),
    ...(isKept ? [] : [el("span", { class: "file-size", title: "It is there until the page is loaded anew." }, "not kept")]),
    PROGRAM.test(name)
      ? button("Open", open, { "aria-label": `Open ${name} as a program` })
      : button("Insert", () => insert(page, [name]), { "aria-label": `Insert ${line}`, title: line }),
    button("Rename", () => rename(title, name, page, draw), { "aria-label": `Rename ${name}` }),
    button("Delete", () => remove(name, page), { "aria-label": `Delete ${name}` }),
    button("Download", () => save(name, data), { "aria-label": `Download ${name}` }),
  );
  return shown;
}

function remove(name: string, page: Page): void {
  const undo = page.files.delete(name);
  const actions = [{ label: "Undo", run: () => void undo().then(() => page.dismiss()) }];
  page.notify({ kind: "info", text: `“${name}” is deleted.`, actions });
}

function rename(title: HTMLElement, name: string, page: Page, draw: () => void): void {
  const field = el("input", { class: "file-name", "aria-label": `New name of ${name}`, value: name });
  let isOver = false;
  const end = (isDone: boolean): void => {
    if (isOver) return;
    isOver = true; // removing the field blurs it
    const newName = field.value.trim();
    const problem = isDone && newName !== name ? page.files.problem(newName) : null;
    field.replaceWith(title);
    draw();
    if (problem) page.warn(problem);
    else if (isDone && newName !== name) void page.files.rename(name, newName);
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") end(true);
    if (event.key === "Escape") end(false);
  });
  field.addEventListener("blur", () => end(true));
  title.replaceWith(field);
  field.focus();
  field.select();
}
