/** Changes a number by dragging it or with Alt and an arrow key; the program runs again each time. */

import { isolateHistory } from "@codemirror/commands";
import { Prec, StateEffect, StateField, Transaction, type Extension } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, keymap, showTooltip, type DecorationSet, type Tooltip } from "@codemirror/view";
import { DRAGGED } from "./ghosts";
import { literalAt, stepped, type Literal } from "./numbers";

/** Pixels of one step. */
const STEP_PX = 6;
/** Steps with Shift. */
const COARSE = 10;
const REST_MS = 400;

const setHandle = StateEffect.define<Literal | null>();

/** The number under the pointer, or at the cursor of a touch screen, and its handle. */
const handled = StateField.define<Literal | null>({
  create: () => null,
  update: (now, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setHandle)) return effect.value;
    return transaction.docChanged ? null : now;
  },
  provide: (field) => [
    showTooltip.from(field, (literal) => literal && handleOf(literal)),
    EditorView.decorations.from(field, (literal): DecorationSet =>
      literal ? Decoration.set(MARK.range(literal.from, literal.to)) : Decoration.none,
    ),
  ],
});

const MARK = Decoration.mark({ class: "cm-number-handled" });
const HANDLE = "cm-number-handle";

function handleOf({ from, to }: Literal): Tooltip {
  const create = (): { dom: HTMLElement } => {
    const dom = document.createElement("div");
    dom.className = HANDLE;
    dom.textContent = "↔";
    dom.title = "Drag to change the number and run again (or Alt and drag the number, Alt+↑, Alt+↓)";
    // The keys change the number as well; screen readers need no handle.
    dom.setAttribute("aria-hidden", "true");
    return { dom };
  };
  return { pos: from, end: to, above: false, create };
}

interface Drag {
  pointer: number;
  x: number;
  before: string;
  from: number;
  text: string;
}

/** `changed` is called after each change with the line of the number. */
export function dragNumbers(changed: (line: number) => void): Extension {
  let drag: Drag | null = null;
  let waiting = 0;
  const write = (view: EditorView, text: string): void => {
    if (!drag || text === drag.text) return;
    const { from } = drag;
    const changes = { from, to: from + drag.text.length, insert: text };
    drag.text = text;
    // The drag becomes one step of the history when it ends.
    view.dispatch({ changes, annotations: Transaction.addToHistory.of(false), userEvent: DRAGGED });
    changed(view.state.doc.lineAt(from).number);
  };
  const begin = (view: EditorView, literal: Literal, { pointerId, clientX }: PointerEvent): void => {
    drag = { pointer: pointerId, x: clientX, before: literal.text, from: literal.from, text: literal.text };
    view.dispatch({ effects: setHandle.of(null) });
    view.dom.classList.add("is-dragging-number");
    const move = (event: PointerEvent): void => {
      if (!drag || event.pointerId !== drag.pointer) return;
      const steps = Math.round((event.clientX - drag.x) / STEP_PX) * (event.shiftKey ? COARSE : 1);
      write(view, steps === 0 ? drag.before : stepped(drag.before, steps));
    };
    const keys = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      if (drag) write(view, drag.before);
      end();
    };
    const end = (): void => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      window.removeEventListener("keydown", keys, true);
      view.dom.classList.remove("is-dragging-number");
      const done = drag;
      drag = null;
      if (!done || done.text === done.before) return;
      const { from, before, text } = done;
      const silent = { annotations: Transaction.addToHistory.of(false), userEvent: DRAGGED };
      view.dispatch({ changes: { from, to: from + text.length, insert: before }, ...silent });
      view.dispatch({ changes: { from, to: from + before.length, insert: text }, annotations: isolateHistory.of("full"), userEvent: DRAGGED });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    window.addEventListener("keydown", keys, true);
  };
  const at = (view: EditorView, event: MouseEvent): Literal | null => {
    const position = view.posAtCoords({ x: event.clientX, y: event.clientY });
    const isText = event.target instanceof Element && event.target.closest(".cm-ghost") === null;
    return position === null || !isText ? null : literalAt(view.state, position);
  };
  const show = (view: EditorView, literal: Literal | null): void => {
    const now = view.state.field(handled, false);
    if (now?.from === literal?.from && now?.text === literal?.text) return;
    view.dispatch({ effects: setHandle.of(literal) });
  };
  /** Pointer events of the handle, which is outside of the text. */
  const handle = ViewPlugin.define((view) => {
    const press = (event: PointerEvent): void => {
      const isHandle = event.target instanceof Element && event.target.closest(`.${HANDLE}`);
      const literal = view.state.field(handled, false);
      if (!isHandle || !literal || drag) return;
      event.preventDefault();
      begin(view, literal, event);
    };
    view.dom.addEventListener("pointerdown", press);
    return {
      update: ({ selectionSet, state }) => {
        if (!selectionSet || drag || !matchMedia("(pointer: coarse)").matches) return;
        const { empty, head } = state.selection.main;
        const literal = empty ? literalAt(state, head) : null;
        queueMicrotask(() => show(view, literal));
      },
      destroy: () => view.dom.removeEventListener("pointerdown", press),
    };
  });
  const handlers = EditorView.domEventHandlers({
    mousemove: (event, view) => {
      if (drag || event.buttons) return;
      clearTimeout(waiting);
      const literal = at(view, event);
      waiting = window.setTimeout(() => show(view, literal), REST_MS);
    },
    pointerdown: (event, view) => {
      const literal = event.altKey && event.button === 0 ? at(view, event) : null;
      if (!literal) return false;
      begin(view, literal, event);
      return true;
    },
    // Alt and a press would select text.
    mousedown: (event) => drag !== null && event.altKey,
  });
  const by = (steps: number) => (view: EditorView): boolean => {
    const { main } = view.state.selection;
    const literal = literalAt(view.state, main.head);
    if (!literal) return false;
    const text = stepped(literal.text, steps);
    view.dispatch({ changes: { ...literal, insert: text }, selection: { anchor: literal.from + text.length }, userEvent: DRAGGED });
    changed(view.state.doc.lineAt(literal.from).number);
    return true;
  };
  const keys = keymap.of([
    { key: "Alt-ArrowUp", run: by(1) },
    { key: "Alt-ArrowDown", run: by(-1) },
    { key: "Shift-Alt-ArrowUp", run: by(COARSE) },
    { key: "Shift-Alt-ArrowDown", run: by(-COARSE) },
  ]);
  return [handled, handle, handlers, Prec.high(keys)];
}
