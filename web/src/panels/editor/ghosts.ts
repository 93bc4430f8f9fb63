/** Results of the last run at the ends of their lines; they never move the code. */

import { Prec, RangeSet, RangeSetBuilder, StateEffect, StateField, type EditorState, type Extension, type Transaction } from "@codemirror/state";
import { Decoration, EditorView, GutterMarker, ViewPlugin, WidgetType, gutterLineClass, keymap, showTooltip, type DecorationSet, type Tooltip } from "@codemirror/view";
import type { Annotations, Ghost } from "../../page/editor";
import "./ghosts.css";

const SHOW_MS = 150;
const HIDE_MS = 250;

/** The user event of changes by dragging a number: the results follow soon. */
export const DRAGGED = "input.drag";

class GhostWidget extends WidgetType {
  constructor(readonly ghost: Ghost) {
    super();
  }

  override eq({ ghost }: GhostWidget): boolean {
    return ghost === this.ghost || (ghost.text === this.ghost.text && ghost.hue === this.ghost.hue && ghost.isBad === this.ghost.isBad);
  }

  override toDOM(): HTMLElement {
    // A box without width holds the text, so that no line is longer or wraps earlier.
    const box = document.createElement("span");
    box.className = "cm-ghost-box";
    box.setAttribute("aria-hidden", "true");
    const text = document.createElement("span");
    text.className = ["cm-ghost", this.ghost.hue, this.ghost.isBad ? "is-bad" : ""].filter(Boolean).join(" ");
    // Drawn by the style sheet: it is no text of the program, also for a copy of the lines.
    text.dataset["text"] = this.ghost.text;
    box.append(text);
    return box;
  }

  override ignoreEvent(): boolean {
    return false;
  }
}

class KernelMark extends GutterMarker {
  override elementClass: string;

  constructor(hue: string) {
    super();
    this.elementClass = `cm-has-kernel ${hue}`;
  }
}

interface Shown {
  version: number;
  ghosts: DecorationSet;
  dots: RangeSet<GutterMarker>;
}

const annotate = StateEffect.define<Annotations>();
const NOTHING: Shown = { version: 0, ghosts: Decoration.none, dots: RangeSet.empty };

const shown = StateField.define<Shown>({
  create: () => NOTHING,
  update: (now, transaction) => {
    for (const effect of transaction.effects) if (effect.is(annotate)) return drawn(transaction.state, effect.value);
    if (!transaction.docChanged) return now;
    const { changes } = transaction;
    return { ...now, ghosts: kept(now.ghosts.map(changes), transaction), dots: kept(now.dots.map(changes), transaction) };
  },
  provide: (field) => [
    EditorView.decorations.from(field, ({ ghosts }) => ghosts),
    gutterLineClass.from(field, ({ dots }) => dots),
  ],
});

/** What was on lines that were changed says nothing about them any more. */
function kept<T extends Decoration | GutterMarker>(marks: RangeSet<T>, transaction: Transaction): RangeSet<T> {
  if (transaction.isUserEvent(DRAGGED)) return marks;
  const { changes, newDoc } = transaction;
  let left = marks;
  changes.iterChangedRanges((_from, _to, start, end) => {
    const from = newDoc.lineAt(start).from;
    const { to } = newDoc.lineAt(end);
    left = left.update({ filterFrom: from, filterTo: to, filter: () => false });
  });
  return left;
}

function drawn({ doc }: EditorState, { version, ghosts, dots }: Annotations): Shown {
  const texts = new RangeSetBuilder<Decoration>();
  for (const ghost of ghosts) {
    if (ghost.line > doc.lines) continue;
    const { to } = doc.line(ghost.line);
    texts.add(to, to, Decoration.widget({ widget: new GhostWidget(ghost), side: 1, ghost }));
  }
  const marks = new RangeSetBuilder<GutterMarker>();
  for (const { line, hue } of dots) {
    if (line > doc.lines) continue;
    const { from } = doc.line(line);
    marks.add(from, from, new KernelMark(hue));
  }
  return { version, ghosts: texts.finish(), dots: marks.finish() };
}

/** Show annotations, unless the state shows them already. */
export function showAnnotations(view: EditorView, annotations: Annotations): void {
  if (view.state.field(shown, false)?.version === annotations.version) return;
  view.dispatch({ effects: annotate.of(annotations) });
}

/** The results at the line of a position; null for none. */
export function ghostAt(state: EditorState, position: number): Ghost | null {
  const { to } = state.doc.lineAt(Math.min(position, state.doc.length));
  let found: Ghost | null = null;
  state.field(shown, false)?.ghosts.between(to, to, (_from, _to, mark) => {
    found = (mark.spec as { ghost: Ghost }).ghost;
  });
  return found;
}

const setCard = StateEffect.define<Tooltip | null>();

const card = StateField.define<Tooltip | null>({
  create: () => null,
  update: (now, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setCard)) return effect.value;
    return transaction.docChanged ? null : now;
  },
  provide: (field) => showTooltip.from(field),
});

/** What the editor does with the results of a line. */
export interface GhostActions {
  /** Describe them in full. */
  card(ghost: Ghost): HTMLElement;
  /** Show their tensors. */
  open(ghost: Ghost): void;
  /** The reader points at this line, counted from one, and column, or at none. */
  pointed(line: number | null, column: number): void;
}

export function ghosts(actions: GhostActions): Extension {
  let waiting = 0;
  let pointed: number | null = null;
  const hide = (view: EditorView): void => {
    if (view.state.field(card, false)) view.dispatch({ effects: setCard.of(null) });
  };
  const soon = (act: () => void, after: number): void => {
    clearTimeout(waiting);
    waiting = window.setTimeout(act, after);
  };
  const at = (view: EditorView, target: EventTarget | null): { ghost: Ghost; position: number } | null => {
    const text = target instanceof Element ? target.closest(".cm-ghost") : null;
    if (!text) return null;
    const position = view.posAtDOM(text);
    const ghost = ghostAt(view.state, position);
    return ghost && { ghost, position };
  };
  const show = (view: EditorView, { ghost, position }: { ghost: Ghost; position: number }): void => {
    const dom = actions.card(ghost);
    dom.addEventListener("pointerenter", () => clearTimeout(waiting));
    dom.addEventListener("pointerleave", () => soon(() => hide(view), HIDE_MS));
    view.dispatch({ effects: setCard.of({ pos: position, above: false, create: () => ({ dom }) }) });
  };
  const point = (view: EditorView, next: number | null): void => {
    if (next === pointed) return;
    pointed = next;
    const line = next === null ? null : view.state.doc.lineAt(next);
    actions.pointed(line?.number ?? null, line && next !== null ? next - line.from : 0);
  };
  const handlers = EditorView.domEventHandlers({
    mousemove: (event, view) => {
      point(view, view.posAtCoords({ x: event.clientX, y: event.clientY }));
    },
    mouseleave: (_event, view) => point(view, null),
    mouseover: (event, view) => {
      const found = at(view, event.target);
      if (found) soon(() => show(view, found), SHOW_MS);
    },
    mouseout: (event, view) => {
      if (at(view, event.target)) soon(() => hide(view), HIDE_MS);
    },
    // The cursor stays where it is.
    mousedown: (event, view) => at(view, event.target) !== null,
    click: (event, view) => {
      const found = at(view, event.target);
      if (!found) return false;
      soon(() => hide(view), 0);
      actions.open(found.ghost);
      return true;
    },
  });
  const open = (view: EditorView): boolean => {
    const ghost = ghostAt(view.state, view.state.selection.main.head);
    if (ghost) actions.open(ghost);
    return ghost !== null;
  };
  const close = (view: EditorView): boolean => {
    hide(view);
    return false;
  };
  const keys = keymap.of([{ key: "Alt-Enter", run: open }, { key: "Escape", run: close }]);
  return [shown, card, handlers, Prec.high(keys), description];
}

/** Describes the editor by what the line of its cursor made. */
const description = ViewPlugin.define((view) => {
  const words = document.createElement("span");
  words.id = "line-results";
  words.className = "visually-hidden";
  view.dom.append(words);
  const describe = (): void => {
    const text = ghostAt(view.state, view.state.selection.main.head)?.words ?? "";
    if (words.textContent !== text) words.textContent = text;
  };
  return { update: describe, destroy: () => words.remove() };
});
