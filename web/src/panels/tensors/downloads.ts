/** Files of a tensor: its picture as PNG, all values as `.npy`, the slice as CSV. */

import { button, el } from "../../parts/dom";
import { bytes, count } from "../../parts/format";
import { save } from "../../page/download";
import type { Page } from "../../page/page";
import type { Slice } from "../../page/messages";
import type { FileFormat, TensorRecord } from "../../page/protocol";
import { messageOf } from "../../page/session";
import type { Picture } from "./picture";
import { bytesOf } from "./unpack";

/** The downloadable data of the viewer. */
export interface Source {
  tensor: TensorRecord;
  slice: Slice;
  picture: Picture | null;
}

/** Files above this count of bytes need a confirmation. */
const LARGE = 100_000_000;
/** The greatest length of a number as text, with its separator. */
const TEXT_BYTES = 10;
const LONGEST_NAME = 80;
/** File names that Windows reserves for devices. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

export function downloadButtons(page: Page, source: () => Source | null, done: () => void): HTMLElement[] {
  const downloadButton = (label: string, title: string, take: (source: Source) => Promise<void>): HTMLElement =>
    button(
      label,
      () => {
        done();
        const now = source();
        if (now) take(now).catch((error: unknown) => page.warn(messageOf(error)));
      },
      { class: "quiet", title },
    );
  return [
    el("p", { class: "more-title" }, "Download"),
    downloadButton("Picture (PNG)", "One pixel for each cell, in the colours that are seen", savePicture),
    downloadButton("All values (.npy)", "Exact, for numpy.load", (now) => saveParts(page, now, "npy")),
    downloadButton("This slice (CSV)", "The rows and columns that are seen, as text", (now) => saveParts(page, now, "csv")),
  ];
}

async function savePicture({ tensor, picture }: Source): Promise<void> {
  if (!picture || picture.map.rows === 0) throw new Error("There is no picture to download.");
  const blob = await new Promise<Blob | null>((done) => picture.pixels.toBlob(done));
  if (blob) save(fileName(tensor, "png"), blob, "image/png");
}

/** Fetch a file in parts and save it; a large one only after the reader confirms. */
async function saveParts(page: Page, { tensor, slice }: Source, format: FileFormat): Promise<void> {
  const size = sizeOf(tensor, slice, format);
  const name = fileName(tensor, format);
  const fetchAll = async (): Promise<void> => {
    const parts: (string | Uint8Array<ArrayBuffer>)[] = [];
    for (let start: number | null = 0; start !== null; ) {
      const part: { data: string; next: number | null } = await page.request("export", { ...slice, format, start });
      parts.push(format === "npy" ? bytesOf(part.data) : part.data);
      if (part.next !== null && part.next <= start) throw new Error("internal: the next part does not come later");
      start = part.next;
    }
    save(name, new Blob(parts), format === "npy" ? "application/octet-stream" : "text/csv");
  };
  if (size <= LARGE) return fetchAll();
  const again = {
    label: `Download ${bytes(size)}`,
    run: () => {
      page.dismiss();
      fetchAll().catch((error: unknown) => page.warn(messageOf(error)));
    },
  };
  const about = format === "csv" ? "about " : "";
  const text = `${name} will have ${about}${bytes(size)}: ${count(tensor.size, "element")} of ${tensor.dtype}.`;
  page.notify({ kind: "info", text, actions: [again] });
}

/** A file name, valid on any system, from a tensor's name: `history[2]` becomes `history_2`. */
function fileName({ names, name }: TensorRecord, extension: string): string {
  const words = (names[0] ?? name).replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^[_-]+|[_-]+$/g, "");
  const plain = words === "" || DEVICE.test(words) ? `tensor ${words}`.trim().replace(" ", "_") : words;
  return `${plain.slice(0, LONGEST_NAME)}.${extension}`;
}

function sizeOf({ shape, dtype, size }: TensorRecord, { rows, columns }: Slice, format: FileFormat): number {
  if (format === "npy") return size * (dtype === "bool" ? 1 : Number(/\d+$/.exec(dtype)?.[0] ?? 64) / 8);
  return [rows, columns].reduce((product: number, axis) => product * (axis === null ? 1 : (shape[axis] ?? 1)), TEXT_BYTES);
}
