/** The files of a program, and their serialization to one text, which is stored, shared and compared. */

import type { ProgramFile } from "./protocol";

export type { ProgramFile };

/** The file that Run runs. */
export const MAIN = "main.py";

/** Python reads this line as a comment; an older page shows it with the list after it. */
const MARK = "#!tensorweb files\n";
const NAME = /^\w[\w .-]*\.(py|csv|txt|json)$/;
const MODULE = /^[A-Za-z_]\w*\.py$/;
const LONGEST_NAME = 60;
const MOST_FILES = 20;

/** Serialize a program: one file is its own text, several files are a JSON list after a marker. */
export function pack(files: readonly ProgramFile[]): string {
  const [main, ...others] = files;
  if (main && others.length === 0 && !main.text.startsWith(MARK)) return main.text;
  return MARK + JSON.stringify(files.map(({ name, text }) => [name, text]));
}

/**
 * The files of a program's text, `main.py` first. Throws where a list is damaged or has
 * invalid names.
 */
export function unpack(source: string): ProgramFile[] {
  if (!source.startsWith(MARK)) return [{ name: MAIN, text: source }];
  const rows: unknown = JSON.parse(source.slice(MARK.length));
  if (!Array.isArray(rows) || rows.length === 0 || rows.length > MOST_FILES) throw new Error("no list of files");
  const files: ProgramFile[] = [];
  for (const row of rows as unknown[]) {
    const [name, text] = Array.isArray(row) ? (row as unknown[]) : [];
    if (typeof name !== "string" || typeof text !== "string") throw new Error("no file");
    const isRight = files.length === 0 ? name === MAIN : nameProblem(name, files) === null;
    if (!isRight) throw new Error("no name for a file of a program");
    files.push({ name, text });
  }
  return files;
}

/** The files of a stored text; a text that is no list of files is a program of one file. */
export function filesOf(source: string): ProgramFile[] {
  try {
    return unpack(source);
  } catch {
    return [{ name: MAIN, text: source }];
  }
}

/** The text of `main.py`. */
export function mainOf(source: string): string {
  return filesOf(source)[0]?.text ?? "";
}

/** Return why a new file cannot have a name, given the existing names; null if it can. */
export function nameProblem(name: string, files: readonly ProgramFile[]): string | null {
  if (name.length > LONGEST_NAME) return `A name has ${LONGEST_NAME} characters at most.`;
  if (name.endsWith(".py") && !MODULE.test(name)) return "A module is named as Python names things, like helpers.py.";
  if (!NAME.test(name)) return "A file’s name has letters and digits, and ends in .py, .csv, .txt or .json.";
  if (files.some((file) => file.name === name)) return `There is a file ${name} already.`;
  if (files.length >= MOST_FILES) return `A program has ${MOST_FILES} files at most.`;
  return null;
}

const LONGEST_OWN_NAME = 200;

/** A file name without the parts that would lead out of the program’s folder. */
export function plainName(name: string): string {
  return name.replace(/[/\\\0]/g, "_").replace(/^\.+/, "_").slice(-LONGEST_OWN_NAME) || "file";
}
