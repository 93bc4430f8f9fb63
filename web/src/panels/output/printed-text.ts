/** What one run prints: a block for each change of stream, up to a limit, and a tail. */

import { LineMeter } from "../../page/line-meter";
import type { Tail } from "../../page/protocol";
import { el } from "../../parts/dom";
import { count } from "../../parts/format";
import { Terminal } from "./terminal";

/** Characters of one run; the runtime sends fewer unless a program forges them. */
const MOST_TEXT = 500_000;

export class PrintedText {
  readonly #add: (node: HTMLElement) => void;
  #block: Terminal | null = null;
  #tail: HTMLElement | null = null;
  #room = MOST_TEXT;
  #meter = new LineMeter();

  /** `add` appends a node to the output. */
  constructor(add: (node: HTMLElement) => void) {
    this.#add = add;
  }

  /** Show what was written; called once per frame. */
  draw(): void {
    this.#block?.draw();
  }

  /** Let further text begin a block of its own. */
  close(): void {
    this.draw();
    this.#block = null;
  }

  /** Append text; return false where the limit was reached before. */
  write(stream: string, text: string): boolean {
    if (this.#room < 0) return false;
    this.#room -= this.#meter.take(text);
    if (this.#block?.dom.dataset["stream"] !== stream) {
      this.close();
      this.#block = blockOf(stream);
      this.#add(this.#block.dom);
    }
    this.#block?.write(text);
    if (this.#room < 0) this.#add(el("p", { class: "cut" }, "… more output than this page can show is left out …"));
    return true;
  }

  /** Show the end of text of which the runtime omitted a part, instead of an earlier end. */
  writeTail({ stream, text, omitted }: Tail): void {
    if (!this.#tail) this.#add((this.#tail = el("div", { class: "tail" })));
    const end = blockOf(stream);
    end.write(text);
    end.draw();
    const cut = omitted > 0 ? [el("p", { class: "cut" }, `… output truncated: ${count(omitted, "character")} left out …`)] : [];
    this.#tail.replaceChildren(...cut, end.dom);
  }
}

function blockOf(stream: string): Terminal {
  return new Terminal(el("pre", { class: "text", "data-stream": stream }));
}
