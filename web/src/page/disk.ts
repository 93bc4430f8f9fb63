/** The browser's own file system for this site (OPFS): a folder for the files of each program. */

import type { Refusal } from "./storage";

const ROOT = "files";

/** Members of a file handle that TypeScript's library does not declare yet. */
type Movable = FileSystemFileHandle & { move?(folder: FileSystemDirectoryHandle, name: string): Promise<void> };

/** Why a write failed: no room, or storage is blocked. */
export function refusalOf(error: unknown): Refusal {
  return error instanceof DOMException && error.name === "QuotaExceededError" ? "full" : "blocked";
}

/** The folder of all programs; fails where the browser has no file storage. */
async function root(): Promise<FileSystemDirectoryHandle> {
  const site = await navigator.storage.getDirectory();
  return site.getDirectoryHandle(ROOT, { create: true });
}

/** The folder of one program; null if it does not exist. */
async function folder(program: string): Promise<FileSystemDirectoryHandle | null> {
  try {
    return await (await root()).getDirectoryHandle(encodeURIComponent(program));
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotFoundError") return null;
    throw error;
  }
}

async function newFolder(program: string): Promise<FileSystemDirectoryHandle> {
  return (await root()).getDirectoryHandle(encodeURIComponent(program), { create: true });
}

async function handles(program: string): Promise<[string, FileSystemFileHandle][]> {
  const files: [string, FileSystemFileHandle][] = [];
  const entries = (await folder(program)) as (FileSystemDirectoryHandle & AsyncIterable<[string, FileSystemHandle]>) | null;
  if (!entries) return files;
  for await (const [name, handle] of entries) {
    if (handle.kind === "file") files.push([decodeURIComponent(name), handle as FileSystemFileHandle]);
  }
  return files;
}

/** The files of a program; each reads itself from the disk. */
export async function list(program: string): Promise<Map<string, File>> {
  const files = new Map<string, File>();
  for (const [name, handle] of await handles(program)) files.set(name, await handle.getFile());
  return files;
}

/** Write a file atomically: the complete file, or nothing. */
export async function write(program: string, name: string, data: Blob): Promise<File> {
  const handle = await (await newFolder(program)).getFileHandle(encodeURIComponent(name), { create: true });
  const writer = await handle.createWritable();
  try {
    await writer.write(data);
    await writer.close();
  } catch (error) {
    await writer.abort().catch(() => undefined);
    // Otherwise a new file's empty directory entry would remain.
    if ((await handle.getFile()).size === 0) await remove(program, name);
    throw error;
  }
  return handle.getFile();
}

export async function remove(program: string, name: string): Promise<void> {
  await (await folder(program))?.removeEntry(encodeURIComponent(name)).catch(ignoreMissing);
}

/** Move a file to a program (or within one) under a new name. */
export async function give(from: string, name: string, to: string, newName: string): Promise<void> {
  const source = await folder(from);
  if (!source) return;
  await put(to, newName, await source.getFileHandle(encodeURIComponent(name)), await newFolder(to));
  if (await exists(source, name)) await remove(from, name);
}

/** Move all files of a program to another one. */
export async function move(from: string, to: string): Promise<void> {
  const all = await handles(from);
  if (all.length === 0) return;
  const target = await newFolder(to);
  for (const [name, handle] of all) await put(to, name, handle, target);
  await removeAll(from);
}

/** Copy all files of a program to another one. */
export async function copy(from: string, to: string): Promise<void> {
  for (const [name, file] of await list(from)) await write(to, name, file);
}

export async function removeAll(program: string): Promise<void> {
  await (await root()).removeEntry(encodeURIComponent(program), { recursive: true }).catch(ignoreMissing);
}

async function put(program: string, name: string, handle: Movable, target: FileSystemDirectoryHandle): Promise<void> {
  if (handle.move) await handle.move(target, encodeURIComponent(name));
  else await write(program, name, await handle.getFile());
}

async function exists(folder: FileSystemDirectoryHandle, name: string): Promise<boolean> {
  try {
    await folder.getFileHandle(encodeURIComponent(name));
    return true;
  } catch {
    return false;
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof DOMException && error.name === "NotFoundError")) throw error;
}
