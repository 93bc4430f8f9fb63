/** Completion, signatures and documentation in the editor, from the real objects. */

import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { globalCompletion, localCompletionSource } from "@codemirror/lang-python";
import { Prec, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { ViewPlugin, hoverTooltip, keymap, showTooltip, EditorView, type Tooltip, type ViewUpdate } from "@codemirror/view";
import { el } from "../../parts/dom";
import type { Explanation, Member } from "../../page/protocol";
import type { Names } from "./names";
import { expressionAt } from "./name-origins";
import { callAround, isBesides, pathAt } from "./paths";

const MEMBER = /[\w)\]]\.(\w*)$/;
const WORD = /\w+$/;
const TYPES: Record<Member["kind"], string> = {
  function: "function",
  class: "class",
  module: "namespace",
  property: "property",
  variable: "variable",
};

export function assistance(names: Names): Extension {
  return [
    hoverTooltip(async (view, position, side) => {
      const path = pathAt(view.state, position, side);
      const explanation = path && (await names.explain(path.text, view.state));
      if (!explanation) return null;
      return { pos: path.from, end: path.to, above: true, create: () => ({ dom: card(explanation) }) };
    }),
    signature,
    watchCalls(names),
    autocompletion({ activateOnTypingDelay: 250, override: [(context) => complete(context, names)] }),
    reachableOptions,
  ];
}

/** Makes a scrolling list of completions reachable by keyboard. */
const reachableOptions = EditorView.updateListener.of(({ view }) => {
  for (const list of view.dom.querySelectorAll<HTMLElement>(".cm-tooltip-autocomplete ul")) list.tabIndex = 0;
});

async function complete(context: CompletionContext, names: Names): Promise<CompletionResult | null> {
  if (isBesides(context.state, context.pos)) return null;
  const { state } = context;
  const behind = context.matchBefore(MEMBER);
  const [, part = ""] = (behind && MEMBER.exec(behind.text)) ?? [];
  const path = behind ? expressionAt(state, context.pos - part.length - 1) : "";
  if (path === null) return null;
  if (!behind && !context.explicit && !context.matchBefore(WORD)) return null;
  const from = behind ? context.pos - part.length : (context.matchBefore(WORD)?.from ?? context.pos);
  const members = await names.members(path, state);
  const options = members.map((member) => option(member, path, state, names));
  if (!behind) options.push(...(await others(context, new Set(members.map(({ name }) => name)))));
  if (context.aborted || options.length === 0) return null;
  return { from, options, validFor: /^\w*$/ };
}

/** Completes names in the program's text and Python's builtins, in addition to inspected names. */
async function others(context: CompletionContext, known: ReadonlySet<string>): Promise<Completion[]> {
  const results = await Promise.all([localCompletionSource(context), globalCompletion(context)]);
  const seen = new Set(known);
  return results
    .flatMap((result) => result?.options ?? [])
    .filter(({ label }) => !seen.has(label) && seen.add(label));
}

function option({ name, kind, detail }: Member, path: string, state: EditorState, names: Names): Completion {
  const info = async (): Promise<Node | null> => {
    const explanation = await names.explain(path ? `${path}.${name}` : name, state);
    return explanation && (explanation.text || kind !== "variable") ? card(explanation) : null;
  };
  // Variables of the last run rank above keywords and words of the text.
  return { label: name, type: TYPES[kind], detail: kind === "function" ? "" : detail, info, boost: path ? 0 : 1 };
}

/** Signature and documentation as text, because a program may have written both. */
function card({ signature: title, text }: Explanation): HTMLElement {
  return el(
    "div",
    { class: "explanation" },
    el("code", { class: "explanation-signature" }, title),
    text ? el("p", { class: "explanation-text" }, text) : null,
  );
}

/** Explains the call whose arguments surround the cursor, above it. */
const setSignature = StateEffect.define<Tooltip | null>();

const signature = StateField.define<Tooltip | null>({
  create: () => null,
  update: (shown, transaction) => {
    for (const effect of transaction.effects) if (effect.is(setSignature)) return effect.value;
    return shown && { ...shown, pos: transaction.changes.mapPos(shown.pos) };
  },
  provide: (field) => showTooltip.from(field),
});

function hideSignature(view: EditorView): void {
  if (view.state.field(signature, false)) view.dispatch({ effects: setSignature.of(null) });
}

/** Other bindings of the key still apply. */
function onEscape(view: EditorView): boolean {
  hideSignature(view);
  return false;
}

function watchCalls(names: Names): Extension {
  const plugin = ViewPlugin.define(() => {
    let shown: string | null = null;
    const showSignature = async (view: EditorView): Promise<void> => {
      const { state } = view;
      const call = state.selection.main.empty ? callAround(state, state.selection.main.head) : null;
      const key = call && `${call.from} ${call.text}`;
      if (key === shown) return;
      shown = key;
      const explanation = call && (await names.explain(call.text, state));
      // The cursor may have moved before the response arrives.
      if (shown !== key) return;
      const isWanted = call && explanation && explanation.signature.includes("(") && call.from <= view.state.doc.length;
      if (!isWanted) return hideSignature(view);
      const dom = el("div", { class: "explanation" }, el("code", { class: "explanation-signature" }, explanation.signature));
      const tooltip: Tooltip = { pos: call.from, above: true, create: () => ({ dom }) };
      view.dispatch({ effects: setSignature.of(tooltip) });
    };
    return {
      update: (update: ViewUpdate) => {
        const isTyped = update.docChanged && update.transactions.some((one) => one.isUserEvent("input"));
        const isMoved = update.selectionSet && shown !== null;
        if (isTyped || isMoved) queueMicrotask(() => void showSignature(update.view));
      },
    };
  });
  return [plugin, Prec.highest(keymap.of([{ key: "Escape", run: onEscape }]))];
}
