/** Edit the WGSL of a kernel: compile it, run it on the captured storages, and see what differs. */

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, keymap, lineNumbers } from "@codemirror/view";
import { button, el } from "../../parts/dom";
import { count, duration, tuple } from "../../parts/format";
import type { Page } from "../../page/page";
import { MAIN } from "../../page/program";
import type { Attempt, Pair, ShaderProblem } from "../../page/protocol";
import { whyElsewhere } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import { mountLitPicture } from "../why/lit-picture";

export interface KernelEditor {
  dom: HTMLElement;
  text(): string;
  /** Show what the threads of the first workgroup read and write. */
  step(): void;
  /** Whether the text is another one than the library's. */
  isChanged(): boolean;
  focus(): void;
  destroy(): void;
}

/** Show an editor of a captured kernel's text, or of what the reader made of it before. */
export function mountKernelEditor(page: Page, original: string, draft = original): KernelEditor {
  const report = el("div", { class: "kernel-report", role: "status" });
  const said = (text: string): void => report.replaceChildren(el("p", {}, text));
  const text = (): string => editor.state.doc.toString();
  const attempt = async (): Promise<void> => {
    said("Running both texts on the same storages…");
    try {
      const found = await page.request("attempt", { source: text() });
      editor.dispatch(setDiagnostics(editor.state, found.problems.map((problem) => mark(editor, problem))));
      report.replaceChildren(...parts(page, found, goTo));
    } catch (error) {
      said(messageOf(error));
    }
  };
  const step = async (group = [0, 0, 0]): Promise<void> => {
    said("Stepping the threads of a workgroup…");
    try {
      const [{ mountThreads }, found] = await Promise.all([import("./threads"), page.request("threads", { source: text(), group })]);
      report.replaceChildren(mountThreads(found, (other) => void step(other)));
      report.scrollIntoView({ block: "nearest" });
    } catch (error) {
      said(messageOf(error));
    }
  };
  const goTo = (problem: ShaderProblem): void => {
    const { from } = mark(editor, problem);
    editor.dispatch({ selection: { anchor: from }, scrollIntoView: true });
    editor.focus();
  };
  const revert = (): void => {
    editor.dispatch(setDiagnostics(editor.state, []));
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: original } });
    said("This is the original text again.");
  };
  const keep = async (): Promise<void> => {
    try {
      refuseElsewhere(page);
      const { text: code } = await page.request("as_code", { source: text() });
      // The reader may have opened another program meanwhile.
      refuseElsewhere(page);
      page.editor.showFile(MAIN);
      const end = page.editor.files()[0]?.text.length ?? 0;
      page.editor.change([{ from: end, to: end, insert: `\n\n${code}` }]);
      said("The kernel stands at the end of the program as edited = tw.kernel(…), with a call in its last line.");
    } catch (error) {
      said(`It stays here: ${messageOf(error).replace(/\.?$/, ".")}`);
    }
  };
  const run = (): boolean => {
    void attempt();
    return true;
  };
  const editor = new EditorView({
    state: EditorState.create({
      doc: draft,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        keymap.of([{ key: "Mod-Enter", run, preventDefault: true }, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "WGSL of the kernel", tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
      ],
    }),
  });
  const actions = el(
    "div",
    { class: "kernel-actions" },
    button("Run on captured inputs", run, { title: "Run both texts on what this kernel read in the run (Ctrl + Enter)" }),
    button("Step threads", () => void step(), { class: "quiet", title: "Show what each thread of a workgroup reads and writes" }),
    button("Revert", revert, { class: "quiet" }),
    button("Keep as code", () => void keep(), { class: "quiet", title: "Write this kernel into the program as tw.kernel" }),
  );
  const dom = el("div", { class: "kernel-editor" }, editor.dom, actions, report);
  const isChanged = (): boolean => text() !== original;
  return { dom, text, step: () => void step(), isChanged, focus: () => editor.focus(), destroy: () => editor.destroy() };
}

/** Throw where the kernel is not one of the open program. */
function refuseElsewhere({ view }: Page): void {
  const reason = whyElsewhere(view);
  if (reason !== null) throw new Error(reason);
}

/** Return where the compiler found a problem. */
function mark({ state: { doc } }: EditorView, { text, line, column }: ShaderProblem): Diagnostic {
  const at = doc.line(Math.min(Math.max(line, 1), doc.lines));
  const from = Math.min(at.from + Math.max(column - 1, 0), at.to);
  return { from, to: at.to, severity: "error", message: text };
}

/** What an attempt found: problems, or the difference and both times. */
function parts(page: Page, { problems, pairs, seconds }: Attempt, goTo: (problem: ShaderProblem) => void): HTMLElement[] {
  if (problems.length > 0) {
    const items = problems.map((problem) => {
      const where = problem.line > 0 ? button(`line ${problem.line}`, () => goTo(problem), { class: "line-link" }) : null;
      return el("li", {}, where, ` ${problem.text}`);
    });
    return [el("p", {}, "The device’s compiler refused the text:"), el("ul", { class: "kernel-problems" }, ...items)];
  }
  const [pair] = pairs;
  const [before, after] = seconds;
  const time = before === undefined || after === undefined ? "The device does not measure times." : `${duration(before)} before, ${duration(after)} now.`;
  return pair ? [el("p", {}, `${difference(pair)} ${time}`), ...picture(page, pair)] : [el("p", {}, time)];
}

function difference({ first, differing, largest, index }: Pair): string {
  if (differing === 0) return `All ${count(first.size, "element")} are equal.`;
  const most = largest === null ? "" : `, most by ${largest.toPrecision(4)} at ${tuple(index ?? [])}`;
  return `${differing.toLocaleString("en-US")} of ${count(first.size, "element")} differ${most}.`;
}

/** The map of the differences, if there are any. */
function picture(page: Page, { difference: less, differing, index }: Pair): HTMLElement[] {
  if (differing === 0) return [];
  const drawn = mountLitPicture(page, less, [...(index ?? less.shape.map(() => 0))], null, () => undefined);
  return [el("figure", { class: "kernel-differences" }, drawn, el("figcaption", {}, `edited result subtracted from the original one, ${less.dtype} ${tuple(less.shape)}`))];
}
