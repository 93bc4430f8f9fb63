/** Formats the visible file, as one undo step. */

import type { Page } from "./page";
import { changesBetween } from "./text-changes";

type Formatter = (source: string) => string;

let loading: Promise<Formatter> | null = null;

/** Format with ruff; a program with a syntax error stays unchanged, and the error's position is reported. */
export async function formatCode(page: Page): Promise<void> {
  const { file } = page.view;
  if (!file.endsWith(".py")) return page.notify({ kind: "info", text: `${file} is no Python; only Python code is formatted.` });
  const before = textOf(page, file);
  let format: Formatter;
  try {
    format = await (loading ??= load());
  } catch {
    loading = null;
    return page.warn("The formatter could not be loaded; the code is as it was. Try again when the site can be reached.");
  }
  if (page.view.file !== file || textOf(page, file) !== before) return;
  let after: string;
  try {
    after = format(before);
  } catch (error) {
    return page.warn(`Not formatted: ${reasonOf(error, before)}. The code is as it was.`);
  }
  const changes = changesBetween(before, after);
  if (changes.length === 0) return page.notify({ kind: "info", text: "The code is in order already." });
  page.editor.change(changes);
}

function textOf(page: Page, name: string): string {
  return page.editor.files().find((file) => file.name === name)?.text ?? "";
}

/** The formatter, ruff as WebAssembly, is fetched on first use. */
async function load(): Promise<Formatter> {
  const { default: start, format } = await import("@wasm-fmt/ruff_fmt/web");
  await start(new URL("./ruff_fmt_bg.wasm", import.meta.url));
  return (source) => format(source, "main.py", { indent_style: "space", line_ending: "lf" });
}

/** The formatter's syntax error, with its byte offset as line and column. */
function reasonOf(error: unknown, source: string): string {
  const text = (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
  const [, what, offset] = /^(.*?)\s+at byte range (\d+)/.exec(text) ?? [];
  if (what === undefined || offset === undefined) return text.replace(/\.$/, "");
  const before = new TextDecoder().decode(new TextEncoder().encode(source).slice(0, Number(offset)));
  const line = before.split("\n").length;
  return `line ${line}: ${what.replace(/^source contains syntax errors:\s*/i, "")}`;
}
