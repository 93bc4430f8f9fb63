/** The last run compared with the one before it, or with one that the reader keeps. */

import { button, el } from "../../parts/dom";
import { count } from "../../parts/format";
import type { Page } from "../../page/page";
import { messageOf } from "../../page/session";
import type { Part, RunOrigin } from "../../page/view";
import { differencesOf, type Difference, type RunResults } from "./run-differences";
import "./compare.css";

const INVITATION = "Run the program twice, for example with another number, device or line: what differs between the two runs is listed here.";

export function mountCompare(host: HTMLElement, page: Page): Part {
  const text = el("p", { class: "empty" }, INVITATION);
  const keep = button("Keep for comparison", () => choose(), { class: "quiet", "aria-pressed": "false", title: "Compare the following runs with this one" });
  const body = el("div", { class: "compare", hidden: true });
  const values = el("div", { class: "compare", hidden: true });
  const lines = el("p", { class: "compare", hidden: true });
  host.append(text, el("p", {}, keep), lines, values, body);
  /** The run before the last one, or the kept one. */
  let before: RunResults | null = null;
  let last: RunResults | null = null;
  let drawn: RunOrigin | null = null;

  /** The results of the last run; null for one that a panel asked for. */
  const current = (): RunResults | null => {
    const { run, tensors, origins } = page.view;
    if (!run || !origins.tensors || origins.tensors.isForPanel || origins.run !== origins.tensors) return null;
    return { run, tensors, device: origins.tensors.device, source: origins.tensors.source };
  };
  const choose = (): void => {
    page.isKept = !page.isKept;
    const { isKept } = page;
    before = isKept ? last : before;
    void compare("keep_values");
    keep.setAttribute("aria-pressed", String(isKept));
    keep.textContent = isKept ? "Kept: compare with the run before instead" : "Keep for comparison";
    draw();
  };
  /** Compare the values of both runs, and show where they differ. */
  const compare = async (what: "differences" | "keep_values"): Promise<void> => {
    const origin = page.view.origins.tensors;
    if (!origin || origin.recorded || !page.session.isIdle) return;
    try {
      const found = await (what === "differences" ? page.request(what, {}) : page.request(what, { kept: page.isKept }));
      const { valuesSection } = await import("./values");
      if (origin === page.view.origins.tensors) values.replaceChildren(...valuesSection(page, origin, found));
    } catch (error) {
      values.replaceChildren(el("p", { class: "compare-note" }, messageOf(error)));
    }
  };
  const draw = (): void => {
    const now = last;
    keep.disabled = now === null || now.run !== page.view.run;
    const isThere = before !== null && now !== null && before.run !== now.run;
    text.hidden = isThere;
    body.hidden = values.hidden = lines.hidden = !isThere;
    if (!before || !now) return;
    const { program, facts, tensors, equal, kernels } = differencesOf(before, now);
    lines.textContent = program;
    const same = `${count(equal, "tensor")} ${equal === 1 ? "has" : "have"} the same type, range and mean.`;
    body.replaceChildren(
      ...section("Run", facts, "Nothing differs."),
      ...section("Tensors", tensors, ""),
      el("p", { class: "compare-note" }, same),
      ...section("Kernels", kernels, "The same kernels ran as often."),
    );
  };
  return {
    update: ({ origins, phase }) => {
      if (origins.tensors === drawn || phase !== "idle") return;
      drawn = origins.tensors;
      const now = current();
      if (!now) return;
      if (!page.isKept) before = last;
      last = now;
      draw();
      void compare("differences");
    },
  };
}

function section(heading: string, rows: readonly Difference[], none: string): HTMLElement[] {
  const head = el("h2", {}, heading);
  if (rows.length === 0) return none ? [head, el("p", { class: "compare-note" }, none)] : [head];
  const cell = (text: string | null): HTMLElement => el("td", {}, text ?? "–");
  const lines = rows.map(({ name, before, now }) => el("tr", {}, el("th", { scope: "row" }, name), cell(before), cell(now)));
  const titles = el("tr", {}, el("td", {}), el("th", { scope: "col" }, "before"), el("th", { scope: "col" }, "now"));
  return [head, el("div", { class: "compare-table", tabindex: 0, role: "region", "aria-label": heading }, el("table", {}, el("thead", {}, titles), el("tbody", {}, ...lines)))];
}
