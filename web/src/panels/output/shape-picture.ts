/** The picture of shapes that do not fit: boxes aligned as the rule aligns them, and edits that repair. */

import { button, el } from "../../parts/dom";
import { count, sizeOf, tuple } from "../../parts/format";
import type { Page } from "../../page/page";
import type { Failure, Repair } from "../../page/protocol";
import { aligned, nameOf, shapeText, summaryOf, type Box } from "./shape-alignment";
import "./shape-picture.css";

type Clash = NonNullable<Failure["clash"]>;

export function shapePicture(clash: Clash, page: Page): HTMLElement {
  const has = HAS[clash.rule] ?? "the result has";
  const given = String(clash.operands[0]?.shape);
  const repairs = clash.repairs.map((repair) => {
    // The input has its shape still where the layer is made for it.
    const isOfLayer = clash.rule === "expected" && String(repair.shape) === given;
    return el("li", {}, repairButton(repair, isOfLayer ? null : has, page));
  });
  return el(
    "div",
    { class: "clash" },
    el("p", { class: "clash-rule" }, RULES[clash.rule](clash.joined ?? 0)),
    pictureOf(clash),
    repairs.length > 0 ? el("p", { class: "clash-rule" }, clash.rule === "index" ? "Edits after which there is such an index:" : "Edits after which the shapes fit:") : null,
    repairs.length > 0 ? el("ul", { class: "clash-repairs" }, ...repairs) : null,
  );
}

/** Whose shape a repair gives, if not that of the result. */
const HAS: Partial<Record<Clash["rule"], string>> = { aligned: "it then has", expected: "it then has", index: "the table then has" };

const RULES: Record<Clash["rule"], (joined: number) => string> = {
  broadcast: () => "Shapes are aligned at the right. Lengths must be equal, or one of them 1.",
  broadcast_to: () => "Shapes are aligned at the right. Each length must be the requested one, or 1.",
  matmul: () => "The inner lengths of a product must be equal: the last axis of the first operand, the last but one of the second.",
  reshape: () => "A reshape keeps the number of elements.",
  aligned: () => "Axes in one column belong together, and need equal lengths.",
  expected: () => "The input must have the expected lengths.",
  window: () => "A window must fit into the input: along each axis it reaches over no more than the length with its border.",
  index: () => "Indices of an axis go from 0 to its length less one, or from the end with a minus sign.",
  concat: (joined) => `Joining along axis ${joined} needs equal lengths along all other axes.`,
};

/** Boxes of shapes in the columns of a rule; `joined` and wrong lengths are marked. */
export function pictureOf(clash: Pick<Clash, "rule" | "operands" | "joined">): HTMLElement {
  const { rows, verdicts } = aligned(clash);
  const isReshape = clash.rule === "reshape";
  const body = rows.map((boxes, at) => {
    const { text = "", shape = [] } = clash.operands[at] ?? {};
    const name = el("th", { scope: "row" }, text ? el("code", {}, text) : nameOf(clash, at), el("span", {}, shapeText(clash, at)));
    const size = isReshape ? el("td", { class: "clash-size" }, sizeText(shape)) : null;
    return el("tr", {}, name, ...boxes.map(boxOf), size);
  });
  const sign = SIGNS[clash.rule] ?? "≠";
  const marks = verdicts.map((verdict) => el("td", { class: verdict === "wrong" ? "clash-wrong" : "" }, verdict === "wrong" ? sign : ""));
  const last = el("tr", { class: "clash-marks" }, el("td", {}), ...marks, isReshape ? el("td", { class: "clash-wrong" }, "≠") : null);
  // The boxes are a picture: its text says the same in words.
  const table = el("table", { "aria-hidden": true }, el("tbody", {}, ...body, isReshape || verdicts.includes("wrong") ? last : null));
  return el("div", { class: "clash-picture", role: "img", "aria-label": summaryOf(clash) }, table);
}

/** What is between lengths that do not fit, if they need not be equal. */
const SIGNS: Partial<Record<Clash["rule"], string>> = { window: "<", index: "✗" };

/** `12 elements`; with a length of -1 any multiple of the other lengths. */
function sizeText(shape: readonly number[]): string {
  const size = sizeOf(shape);
  return size < 0 ? `a multiple of ${count(-size, "element")}` : count(size, "element");
}

function boxOf(box: Box): HTMLElement {
  if (box.kind === "none") return el("td", {});
  const title = { implied: "An axis of length 1 that the shape does not have", joined: "The axis that is joined", wrong: "These do not fit", fits: null }[box.kind];
  return el("td", {}, el("span", { class: `clash-box clash-${box.kind}`, title }, box.length < 0 ? "any" : String(box.length)));
}

/** A button that makes one edit, which undo takes back; `has` is null where a layer takes the shape. */
function repairButton(repair: Repair, has: string | null, page: Page): HTMLElement {
  const { output } = page.view.origins;
  const shape = tuple(repair.shape);
  const text = `${repair.label} ${has ? "→" : "takes"} ${shape}`;
  const label = `Change ${repair.old}${has ? ` to ${repair.label}: ${has} shape ${shape}` : `: ${text}`}`;
  const apply = (): void => {
    const { editor } = page;
    page.goTo(output, repair.line, repair.column, repair.file);
    const file = editor.files().find(({ name }) => name === repair.file);
    const [from, to] = file ? [offset(file.text, repair.line, repair.column), offset(file.text, repair.endLine, repair.endColumn)] : [0, 0];
    if (file?.text.slice(from, to) !== repair.old) return page.warn("The program was edited there since it ran: run it again for edits that fit.");
    editor.showFile(repair.file);
    editor.change([{ from, to, insert: repair.text }]);
  };
  return button(text, apply, { class: "quiet", "aria-label": label });
}

/** The offset of a position in a text. */
function offset(text: string, line: number, column: number): number {
  const before = text.split("\n").slice(0, line - 1);
  return before.reduce((sum, one) => sum + one.length + 1, column);
}
