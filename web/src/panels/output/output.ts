/** What the program printed and showed, and where it failed; never as HTML. */

import { button, el, perFrame } from "../../parts/dom";
import { count, duration } from "../../parts/format";
import { RECORDED, originNote } from "../../page/run-origin";
import type { Page } from "../../page/page";
import { MAIN } from "../../page/program";
import { printedLine } from "../../parts/nonfinite";
import { lookButtons } from "./looks";
import { idOf } from "../../page/workspace";
import type { Display, Failure, Frame, Output, RunRecord } from "../../page/protocol";
import { widths } from "./widths";
import { barChart } from "./bar-chart";
import { autoScroll } from "./auto-scroll";
import { copyButton } from "./copying";
import { mountTensorCards } from "./tensor-cards";
import { focusField, promptField } from "./prompt";
import { mountPlots } from "./plots";
import { markedCode } from "./marked-code";
import { shapePicture } from "./shape-picture";
import { richView } from "./rich";
import { PrintedText } from "./printed-text";
import "./ansi.css";
import "./output.css";
import type { Example, Part, View } from "../../page/view";

/** Cards of one run; the worker sends fewer unless a program forges them. */
const MOST_CARDS = 250;

/** A number that is not finite, as Python prints it. */
const NOT_FINITE = /(?<![\w.])(nan|inf)(?![\w.]*\w)/;

export function mountOutput(host: HTMLElement, page: Page): Part {
  const origin = el("p", { class: "origin-note", hidden: true });
  const content = el("div", { class: "output-content" }, el("p", { class: "empty" }, "Press Run, and what the program prints and shows appears here."));
  const looks = el("p", { class: "question looks", hidden: true });
  const whole = el("div", {}, content, looks);
  const scroll = autoScroll(host, whole);
  const copy = copyButton(page, "output", () => content.innerText);
  copy.hidden = true;
  const question = el("p", { class: "question", hidden: true }, el("strong", {}, "Before you run: "), el("span"));
  host.append(origin, copy, question, whole, scroll.button);
  let field: HTMLFormElement | null = null;
  let isFieldShown = false;
  let last: { line: HTMLElement; record: RunRecord } | null = null;
  let waiting: Node[] = [];
  /** Whether the content is the run's before, which stays until this one shows something. */
  let isOld = false;
  let cards = 0;
  let printed: "nan" | "inf" | null = null;

  const flush = perFrame(() => {
    if (isOld && waiting.length > 0) {
      isOld = false;
      content.replaceChildren();
    }
    content.append(...waiting);
    waiting = [];
    text.draw();
    if (field && !isFieldShown) {
      isFieldShown = true;
      // Do not take the focus from the editor.
      if (!page.view.editedSince) focusField(field);
    }
    copy.hidden = content.childElementCount === 0;
    scroll.grown();
  });
  const add = (node: HTMLElement): void => {
    waiting.push(node);
    flush();
  };
  let text = new PrintedText(add);
  const write = ({ stream, text: more }: Output): void => {
    if (text.write(stream, more)) printed = printed === "nan" ? printed : (NOT_FINITE.exec(more)?.[1] as "nan" | "inf" | undefined) ?? printed;
    flush();
  };
  const tensorCards = mountTensorCards(page);
  const plots = mountPlots((display) => page.inspect(display));
  const showPrompt = (words: string): void => {
    field?.remove();
    field = promptField(words, (line) => {
      field?.remove();
      field = null;
      page.session.type(line);
    });
    isFieldShown = false;
    add(field);
  };
  return {
    update: (view) => {
      const originText = originNote(view, "output") ?? "";
      origin.hidden = originText === "";
      if (origin.textContent !== originText) origin.textContent = originText;
      content.toggleAttribute("data-stale", originText !== "" && originText !== RECORDED);
      if (last) last.line.textContent = footer(last.record, view);
      const example = exampleOf(view);
      const questionText = example?.question ?? "";
      question.hidden = questionText === "";
      if (question.lastElementChild?.textContent !== questionText) question.lastElementChild?.replaceChildren(questionText);
      const texts = example?.looks ?? [];
      looks.hidden = texts.length === 0 || view.origins.tensors?.document !== view.document.id;
      if (looks.dataset["texts"] !== texts.join()) looks.replaceChildren(el("strong", {}, "Then look: "), ...lookButtons(page, texts));
      looks.dataset["texts"] = texts.join();
      tensorCards.update(view);
    },
    begin: (isAgain) => {
      waiting = [];
      text = new PrintedText(add);
      last = null;
      cards = 0;
      printed = null;
      isOld = isAgain;
      if (!isAgain) content.replaceChildren();
      tensorCards.begin();
      plots.begin();
      scroll.begin();
    },
    note: (note) => {
      if (note.note === "output") write(note);
      else if (note.note === "tail") {
        text.writeTail(note);
        flush();
      }
      else if (note.note === "picture") tensorCards.picture(note);
      else if (note.note === "plot") {
        const card = plots.draw(note);
        if (!card || ++cards > MOST_CARDS) return;
        text.close();
        add(card);
      }
      else if (note.note === "prompt") {
        text.close();
        showPrompt(note.text);
      } else if (note.note === "display" && ++cards <= MOST_CARDS) {
        text.close();
        add(note.tensor ? tensorCards.card(note) : displayCard(note, page));
      }
    },
    finished: (record) => {
      field?.remove();
      text.close();
      if (record.error) add(failureCard(record.error, page));
      const line = printedLine(page, record.search, printed);
      if (line) add(line);
      last = { line: el("p", { class: "footer" }, footer(record, page.view)), record };
      add(last.line);
    },
    trouble: (message, retry) => {
      text.close();
      field?.remove();
      content.querySelector(".empty")?.remove();
      const again = retry ? button("Retry", () => void page.session.restart(), { class: "retry" }) : null;
      add(el("p", { class: "trouble", role: "alert" }, message, again));
    },
  };
}

/** The example that is open; none for other programs, and once the reader has changed it. */
function exampleOf({ examples, document, edited }: View): Example | undefined {
  return edited ? undefined : examples?.find(({ file, source }) => idOf(file) === document.id || source === document.original);
}

/** The outcome of the run; not shown as finished while its tensors are being read. */
function footer(record: RunRecord, { phase, editedSince }: View): string {
  const time = duration(record.seconds);
  if (phase === "reading") return `The program took ${time}; its tensors are being read…`;
  const since = editedSince ? " · edited since" : "";
  if (record.stopped) return `Stopped after ${time}${since}`;
  return `${record.error ? "Failed after" : "Finished in"} ${time}${since}`;
}

function displayCard({ display, name, text, chart, rich }: Display, page: Page): HTMLElement {
  if (chart) return el("div", { class: "display" }, barChart(chart));
  const label = { role: "region", "aria-label": `Value of ${name ?? "the display"} ${display + 1}` };
  const body = rich ? richView(rich, name ?? `display ${display + 1}`) : el("pre", { class: "text", ...label }, text);
  widths.observe(body);
  const isLarge = rich !== undefined && rich.kind !== "text";
  const look = { class: "display-name", title: "Show it large" };
  const head = name === null ? null : isLarge ? button(name, () => page.inspect(display), look) : el("span", { class: "display-name" }, name);
  return el("div", { class: "display" }, head, body);
}

function failureCard(failure: Failure, page: Page): HTMLElement {
  const frames = failure.frames.map((frame) =>
    "skipped" in frame
      ? el("li", { class: "skipped" }, `… ${count(frame.skipped, "call")} left out …`)
      : el("li", {}, ...frameLine(frame, page)),
  );
  const hidden = failure.hidden > 0 ? ` (${count(failure.hidden, "frame")} inside libraries hidden)` : "";
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("p", { class: "failure-title" }, el("strong", {}, failure.type), failure.message ? ": " : "", failure.message),
    frames.length ? el("ol", { class: "frames" }, ...frames) : null,
    failure.clash ? shapePicture(failure.clash, page) : null,
    el(
      "details",
      {},
      el("summary", {}, `Full traceback${hidden}`),
      el("pre", { class: "text" }, failure.text),
    ),
  );
}

/** A link to the line and the line itself with the failing part marked. */
function frameLine(frame: Frame, page: Page): Node[] {
  const { output } = page.view.origins;
  const where = frame.function && frame.function !== "<module>" ? ` in ${frame.function}` : "";
  const file = frame.file === MAIN ? "" : `${frame.file}, `;
  const link = button(
    `${file}line ${frame.line}${where}`,
    () => page.goTo(output, frame.line, frame.column ?? 0, frame.file),
    { class: "line-link" },
  );
  return [link, markedCode(frame)];
}
