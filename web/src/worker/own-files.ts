/**
 * The folder of the running program. The page shares its files, which are read in ranges
 * when Python reads them, so that a file may be larger than memory; files that the program has
 * written are collected at its end.
 */

import type { ProvideDetails, ProvidedFile } from "../page/messages";

const FOLDER = "/home/pyodide";
const HIDDEN = /^\.|^__pycache__$|\.part$/;
const MOST_FILES = 500;
/** The least count of bytes of one read (read-ahead). */
const PIECE = 1 << 20;
/** The greatest count of bytes of one read; longer reads are divided, to bound memory. */
const BUFFER = 16 << 20;

declare class FileReaderSync {
  readAsArrayBuffer(blob: Blob): ArrayBuffer;
}

/** The parts of Emscripten's in-memory file system that we use. */
interface Node {
  mode: number;
  contents: Uint8Array;
  usedBytes: number;
  mtime: number;
  node_ops: Record<string, (...given: never[]) => unknown> & { setattr(node: Node, attr: { size?: number }): void };
  stream_ops: Record<string, (...given: never[]) => unknown>;
}
interface FileSystem {
  readdir(path: string): string[];
  lookupPath(path: string, options: { follow: boolean }): { node: Node };
  isFile(mode: number): boolean;
  unlink(path: string): void;
  writeFile(path: string, data: Uint8Array): void;
}

/** A file shared with the page, and its state at the last synchronization. */
interface Known {
  node: Node;
  /** Time and length of the last write, from `markOf`. */
  mark: string;
  /** The shared file; null for a collected file that the page has not returned yet. */
  file: Blob | null;
}

export class OwnFiles {
  #known = new Map<string, Known>();
  #tabs = new Set<string>();

  constructor(readonly fs: FileSystem) {}

  /** Provide the files of the next run; other files are removed unless `keep` (a cell) is set. */
  provide({ files, tabs, keep }: ProvideDetails): void {
    this.#tabs = new Set(tabs);
    const given = new Map(files.map((file) => [file.name, file]));
    for (const [name] of this.#entries()) {
      const isRemoved = keep ? this.#known.has(name) : true;
      if (isRemoved && !given.has(name)) {
        this.fs.unlink(`${FOLDER}/${name}`);
        this.#known.delete(name);
      }
    }
    for (const file of files) if (!this.#tabs.has(file.name)) this.#write(file, keep);
  }

  /** Return the files that the program has written, and the names of deleted files. */
  collect(): { files: ProvidedFile[]; deleted: string[]; left: number } {
    const files: ProvidedFile[] = [];
    const entries = this.#entries();
    for (const [name, node] of entries) {
      const known = this.#known.get(name);
      if (this.#tabs.has(name) || (known && isSame(known, node))) continue;
      if (files.length < MOST_FILES) {
        files.push({ name, data: new Blob([node.contents.subarray(0, node.usedBytes) as Uint8Array<ArrayBuffer>]) });
        this.#known.set(name, { node, mark: markOf(node), file: null });
      }
    }
    const there = new Set(entries.map(([name]) => name));
    const deleted = [...this.#known.keys()].filter((name) => !there.has(name) && !this.#tabs.has(name));
    for (const name of deleted) this.#known.delete(name);
    const left = entries.filter(([name]) => !this.#known.has(name) && !this.#tabs.has(name)).length;
    return { files, deleted, left };
  }

  #write({ name, data }: ProvidedFile, keep: boolean): void {
    const path = `${FOLDER}/${name}`;
    const known = this.#known.get(name);
    if (known && isSame(known, this.#node(name))) {
      // A cell may have it open, so collected files stay until a full program runs.
      if (known.file === null && keep) known.file = data;
      if (known.file && isSameFile(known.file, data)) return;
    }
    if (this.#node(name)) this.fs.unlink(path);
    this.fs.writeFile(path, new Uint8Array(0));
    const node = this.fs.lookupPath(path, { follow: false }).node;
    readFrom(node, data);
    this.#known.set(name, { node, mark: markOf(node), file: data });
  }

  #node(name: string): Node | null {
    try {
      return this.fs.lookupPath(`${FOLDER}/${name}`, { follow: false }).node;
    } catch {
      return null;
    }
  }

  /** The plain files of the folder. */
  #entries(): [string, Node][] {
    return this.fs
      .readdir(FOLDER)
      .filter((name) => !HIDDEN.test(name))
      .flatMap((name): [string, Node][] => {
        const node = this.#node(name);
        return node && this.fs.isFile(node.mode) ? [[name, node]] : [];
      });
  }
}

function markOf({ mtime, usedBytes }: Node): string {
  return `${mtime} ${usedBytes}`;
}

function isSame({ node, mark }: Known, now: Node | null): boolean {
  return node === now && markOf(now) === mark;
}

function isSameFile(a: Blob, b: Blob): boolean {
  if (a === b) return true;
  return a instanceof File && b instanceof File && a.size === b.size && a.lastModified === b.lastModified;
}

/** Make a node of the in-memory file system read from a file, until it is written to. */
function readFrom(node: Node, file: Blob): void {
  const reader = new FileReaderSync();
  const { node_ops: ops, stream_ops: streams } = node;
  let source: Blob | null = file;
  let piece = new Uint8Array(0);
  let begin = 0;
  const part = (blob: Blob, from: number, to: number): Uint8Array<ArrayBuffer> =>
    new Uint8Array(reader.readAsArrayBuffer(blob.slice(from, to)));
  const read = (blob: Blob, target: Int8Array, offset: number, from: number, to: number): void => {
    if (to - from < PIECE) {
      if (from < begin || to > begin + piece.length) {
        piece = part(blob, from, from + PIECE);
        begin = from;
      }
      target.set(piece.subarray(from - begin, to - begin), offset);
      return;
    }
    for (let at = from; at < to; at += BUFFER) target.set(part(blob, at, Math.min(at + BUFFER, to)), offset + at - from);
  };
  /** Read the complete file into memory before its first change. */
  const settle = (): void => {
    if (!source) return;
    node.contents = part(source, 0, source.size);
    source = null;
    piece = new Uint8Array(0);
  };
  node.usedBytes = file.size;
  node.node_ops = {
    ...ops,
    setattr: (target, attr) => {
      if (attr.size === 0) source = null;
      else if (attr.size !== undefined) settle();
      ops.setattr(target, attr);
    },
  };
  const settled =
    (act: (...given: never[]) => unknown) =>
    (...given: never[]): unknown => {
      settle();
      return act(...given);
    };
  const plain = streams["read"] as (...given: unknown[]) => number;
  node.stream_ops = {
    ...streams,
    write: settled(streams["write"] as () => unknown),
    mmap: settled(streams["mmap"] as () => unknown),
    read: (stream: unknown, target: Int8Array, offset: number, length: number, position: number): number => {
      if (!source) return plain(stream, target, offset, length, position);
      const end = Math.min(position + length, node.usedBytes);
      if (position >= end) return 0;
      read(source, target, offset, position, end);
      return end - position;
    },
  };
}
