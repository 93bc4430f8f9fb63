/** The field in which the reader answers a program that called `input()`. */

import { el } from "../../parts/dom";
import { LONGEST_LINE } from "../../worker/interrupt";
import "./prompt.css";

/** Make the field; `answer` receives the line once. */
export function promptField(words: string, answer: (line: string) => void): HTMLFormElement {
  const input = el("input", { class: "prompt-input", type: "text", autocomplete: "off", maxlength: LONGEST_LINE });
  const label = el("label", { class: "prompt-label" }, el("span", {}, words || "The program waits for a line:"), input);
  const form = el("form", { class: "prompt" }, label, el("button", { type: "submit" }, "Enter"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer(input.value);
  });
  return form;
}

/** Focus the field without scrolling the page. */
export function focusField(form: HTMLFormElement): void {
  form.querySelector("input")?.focus({ preventScroll: true });
}
