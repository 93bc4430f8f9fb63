/** The code editor: one CodeMirror for the files of the open program, shown one at a time. */

import { isolateHistory } from "@codemirror/commands";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { setDiagnostics } from "@codemirror/lint";
import type { Annotations, Editor, EditorEvents } from "../../page/editor";
import type { Page } from "../../page/page";
import { MAIN, filesOf, pack, type ProgramFile } from "../../page/program";
import { showDifference } from "./difference";
import { extender } from "./extensions";
import { mountFileTabs } from "./file-tabs";
import { showAnnotations } from "./ghosts";
import { lightLine, lightSpans } from "./lit-line";
import { marksOf, position } from "./marks";
import { lineCards, openResult } from "./line-card";
import { Names } from "./names";
import { mountResults } from "./results";
import { States, replacement } from "./states";
import "./code.css";
import "./editor.css";
import type { Part } from "../../page/view";

const SAVE_AFTER = 300;

export function mountEditor(host: HTMLElement, page: Page): Part {
  // The code itself takes the focus.
  host.removeAttribute("tabindex");
  const tabs = mountFileTabs(page);
  host.append(tabs.dom, page.editor.dom);
  const results = mountResults(page);
  page.card = lineCards(page);
  page.openResult = (ghost) => openResult(page, ghost);
  return {
    update: (view) => {
      tabs.update(view);
      results(view);
    },
    nameFile: tabs.add,
  };
}

export function openEditor(events: EditorEvents): Editor {
  let shown = "";
  let wrapped = false;
  /** The names of the program's files in order, and the visible one. */
  let order: string[] = [MAIN];
  let active = MAIN;
  let edits = 0;
  let saving = 0;
  const states = new States();
  /** The file of each program that was visible last. */
  const seen = new Map<string, string>();
  let annotations = (_file: string): Annotations => ({ version: 0, ghosts: [], dots: [] });
  const flush = (): void => {
    if (!saving) return;
    clearTimeout(saving);
    saving = 0;
    events.save(shown, source());
  };
  const tellPlace = (): void => {
    const { doc, selection } = view.state;
    const { number, from } = doc.lineAt(selection.main.head);
    events.moved(number, selection.main.head - from + 1);
  };
  const reportFiles = (): void => events.files([...order], active);
  const changed = (): void => {
    edits += 1;
    clearTimeout(saving);
    saving = window.setTimeout(flush, SAVE_AFTER);
    events.typed();
  };
  const onUpdate = EditorView.updateListener.of((update) => {
    if (update.docChanged || update.selectionSet) tellPlace();
    if (update.docChanged) changed();
  });
  const names = new Names(events.request);
  const extend = extender(events, names, onUpdate);
  const view = new EditorView({ state: EditorState.create({ extensions: extend(MAIN, false) }) });

  const textOf = (file: string): string =>
    (file === active ? view.state : states.get(shown, file))?.doc.toString() ?? "";
  const files = (): ProgramFile[] => order.map((name) => ({ name, text: textOf(name) }));
  const source = (): string => pack(files());
  const park = (): void => states.set(shown, active, view.state);
  const look = (file: string): void => {
    active = file;
    seen.set(shown, file);
    const state = states.get(shown, file);
    if (state) view.setState(state);
    showAnnotations(view, annotations(file));
    tellPlace();
    reportFiles();
  };
  const showFile = (file: string): void => {
    if (file === active || !order.includes(file)) return;
    park();
    look(file);
  };
  const leave = (): void => {
    flush();
    if (shown) park();
    states.keep();
  };
  addEventListener("pagehide", leave);
  return {
    dom: view.dom,
    source,
    files,
    edits: () => edits,
    flush,
    show: (id, text, wraps) => {
      flush();
      if (shown) park();
      shown = id;
      wrapped = wraps;
      const opened = filesOf(text);
      order = opened.map(({ name }) => name);
      for (const file of opened) states.open(id, file.name, file.text, extend(file.name, wraps));
      const last = seen.get(id) ?? MAIN;
      look(order.includes(last) ? last : MAIN);
    },
    rename: (id) => {
      if (shown) states.move(shown, id);
      shown = id;
      seen.set(id, active);
    },
    open: (text) => {
      const before = source();
      const opened = filesOf(text);
      const removed = order.filter((name) => !opened.some((file) => file.name === name));
      order = opened.map(({ name }) => name);
      for (const file of opened) {
        if (file.name !== active) states.open(shown, file.name, file.text, extend(file.name, wrapped));
        else {
          const step = replacement(view.state, file.text);
          if (step) view.dispatch(step);
        }
      }
      for (const name of removed) states.delete(shown, name);
      if (removed.includes(active)) look(MAIN);
      else reportFiles();
      if (source() === before) return;
      changed();
      flush();
    },
    mark: (id, failure) => {
      names.forget();
      states.mark(id, failure);
      const marks = marksOf(id === shown ? failure : null, view.state.doc, active);
      view.dispatch(setDiagnostics(view.state, marks));
    },
    goTo: (line, column, file = MAIN) => {
      showFile(file);
      const anchor = position(view.state.doc, line, column);
      view.dispatch({ selection: { anchor }, scrollIntoView: true });
      view.focus();
    },
    showFile,
    addFile: ({ name, text }, index = order.length) => {
      park();
      order.splice(index, 0, name);
      states.open(shown, name, text, extend(name, wrapped));
      look(name);
      changed();
    },
    renameFile: (from, to) => {
      const index = order.indexOf(from);
      const state = from === active ? view.state : states.get(shown, from);
      if (index < 1 || !state) return;
      park();
      order[index] = to;
      const { doc, selection } = state;
      states.set(shown, to, EditorState.create({ doc, selection, extensions: extend(to, wrapped) }));
      states.delete(shown, from);
      look(active === from ? to : active);
      changed();
    },
    deleteFile: (name) => {
      const index = order.indexOf(name);
      if (index < 1) return;
      park();
      order.splice(index, 1);
      states.delete(shown, name);
      look(active === name ? (order[index - 1] ?? MAIN) : active);
      changed();
    },
    lightSpans: (spans, hue) => view.dispatch({ effects: lightSpans(view.state, spans.filter(({ file = MAIN }) => file === active), hue) }),
    annotate: (annotationsOf) => {
      annotations = annotationsOf;
      showAnnotations(view, annotations(active));
    },
    light: (line, file = MAIN) => view.dispatch({ effects: lightLine(view.state, active === file ? line : null) }),
    change: (changes) => view.dispatch({ changes: [...changes], annotations: isolateHistory.of("full") }),
    difference: showDifference,
    focus: () => view.focus(),
  };
}
