/** Downloads: a single file, or the files of a program as a ZIP archive. */

import type { ProgramFile } from "./program";

/** Let the browser save some bytes under a name. */
export function save(name: string, data: BlobPart, type = "application/octet-stream"): void {
  const link = document.createElement("a");
  const address = URL.createObjectURL(new Blob([data], { type }));
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A file name from a title, without an extension. */
export function fileNameOf(title: string): string {
  const plain = title.replace(/\.py$/, "").replace(/[^\p{L}\p{N} _-]+/gu, "").trim();
  return plain.slice(0, 60) || "program";
}

/** Save a program: `title.py`, or of several files `title.zip`. */
export function saveProgram(title: string, files: readonly ProgramFile[]): void {
  const [main, ...others] = files;
  const name = fileNameOf(title);
  if (others.length === 0) save(`${name}.py`, main?.text ?? "", "text/x-python");
  else save(`${name}.zip`, zip(files), "application/zip");
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;
/** The first day that such an archive can name, 1 January 1980. */
const DATE = 0x21;

/** A ZIP archive of texts, stored as they are (PKWARE APPNOTE 6.3.10, sections 4.3 to 4.5). */
export function zip(files: readonly ProgramFile[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const local: number[] = [];
  const central: number[] = [];
  for (const { name, text } of files) {
    const [path, data] = [encoder.encode(name), encoder.encode(text)];
    const size = [...word(data.length), ...word(data.length)];
    const facts = [...half(VERSION), ...half(FLAGS), ...half(0), ...half(0), ...half(DATE), ...word(checksum(data)), ...size, ...half(path.length), ...half(0)];
    central.push(...word(CENTRAL), ...half(VERSION), ...facts, ...half(0), ...half(0), ...half(0), ...word(0), ...word(local.length), ...path);
    local.push(...word(LOCAL), ...facts, ...path);
    for (const byte of data) local.push(byte);
  }
  const count = half(files.length);
  const end = [...word(END), ...half(0), ...half(0), ...count, ...count, ...word(central.length), ...word(local.length), ...half(0)];
  return Uint8Array.from([...local, ...central, ...end]);
}

/** A 16-bit integer, little-endian. */
function half(value: number): number[] {
  return [value & 255, (value >>> 8) & 255];
}

function word(value: number): number[] {
  return [...half(value), ...half(value >>> 16)];
}

/** CRC-32, bit by bit: programs are short. */
function checksum(data: Uint8Array): number {
  let rest = -1;
  for (const byte of data) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return ~rest >>> 0;
}
