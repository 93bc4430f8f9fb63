/** Splits printed text into styled pieces, by the escape sequences of terminals. */

/** A text style; null for the default. A colour is one of our names or a CSS colour. */
export interface Look {
  readonly colour: string | null;
  readonly ground: string | null;
  readonly traits: string;
}

export const PLAIN: Look = { colour: null, ground: null, traits: "" };

/** A piece of text, a movement of the cursor, or the end of the line erased. */
export type Piece = { text: string; look: Look } | "return" | "newline" | "erase";

/** The 16 terminal colours; `output.css` defines them for light and dark. */
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

/** Text traits by the code that starts them, and by the code that ends them. */
const BEGINS: Record<number, string> = { 1: "bold", 2: "faint", 3: "italic", 4: "underline", 7: "inverse", 9: "strike" };
const ENDS: Record<number, readonly string[]> = {
  22: ["bold", "faint"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

/** A control sequence, a string for the terminal itself (a title, a link), or a break. */
const CONTROL = /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]P^_X][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-Z\\^-~]|[\r\n]/g;
/** An incomplete sequence at the end of the text. */
const OPEN = /\u001b(?:\[[0-?]*[ -/]*|[\]P^_X][^\u0007\u001b]*\u001b?|[ -/]*)$/;
const LONGEST_OPEN = 4096;

/** Parses a stream in chunks; a sequence may be split between two calls. */
export class AnsiReader {
  #look = PLAIN;
  #open = "";

  /** Whether plain text can be appended without parsing. */
  get isPlain(): boolean {
    return this.#look === PLAIN && this.#open === "";
  }

  *read(more: string): Generator<Piece> {
    let text = this.#open + more;
    const open = OPEN.exec(text.slice(-LONGEST_OPEN))?.[0] ?? "";
    this.#open = open;
    if (open) text = text.slice(0, -open.length);
    let done = 0;
    for (const match of text.matchAll(CONTROL)) {
      if (match.index > done) yield { text: text.slice(done, match.index), look: this.#look };
      done = match.index + match[0].length;
      if (match[0] === "\n") yield "newline";
      else if (match[0] === "\r") yield "return";
      else if (match[2] === "m") this.#look = changed(this.#look, match[1] ?? "");
      else if (match[2] === "K") yield "erase";
    }
    if (done < text.length) yield { text: text.slice(done), look: this.#look };
  }
}

/** Return the style after a sequence of codes such as `1;31`. */
function changed(look: Look, numbers: string): Look {
  const codes = numbers.split(/[;:]/).map(Number);
  let { colour, ground } = look;
  let traits = new Set(look.traits.split(" ").filter(Boolean));
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 0) {
      colour = ground = null;
      traits = new Set();
    } else if (code === 38 || code === 48) {
      const [value, used] = longColour(codes.slice(i + 1));
      if (code === 38) colour = value;
      else ground = value;
      i += used;
    } else if (code === 39) colour = null;
    else if (code === 49) ground = null;
    else if (BEGINS[code]) traits.add(BEGINS[code]);
    else if (ENDS[code]) ENDS[code].forEach((trait) => traits.delete(trait));
    else if (code >= 30 && code <= 37) colour = named(code - 30);
    else if (code >= 40 && code <= 47) ground = named(code - 40);
    else if (code >= 90 && code <= 97) colour = named(code - 82);
    else if (code >= 100 && code <= 107) ground = named(code - 92);
  }
  const isPlain = colour === null && ground === null && traits.size === 0;
  return isPlain ? PLAIN : { colour, ground, traits: [...traits].join(" ") };
}

/** The second eight of the 16 colours are the bright ones. */
function named(number: number): string {
  const name = NAMES[number % 8] ?? "white";
  return `var(--ansi-${number < 8 ? "" : "bright-"}${name})`;
}

/** Return one of 256 colours or an RGB colour, and the count of numbers that encode it. */
function longColour([kind, ...rest]: number[]): [string | null, number] {
  if (kind === 5) return [indexed(byte(rest[0])), 2];
  if (kind === 2) return [`rgb(${rest.slice(0, 3).map(byte).join(" ")})`, 4];
  return [null, 0];
}

function indexed(number: number): string {
  if (number < 16) return named(number);
  if (number >= 232) {
    const grey = 8 + 10 * (number - 232);
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const parts = [36, 6, 1].map((step) => Math.floor((number - 16) / step) % 6);
  return `rgb(${parts.map((part) => (part ? 55 + 40 * part : 0)).join(" ")})`;
}

function byte(value: number | undefined): number {
  return Math.min(Math.max(Math.trunc(value ?? 0) || 0, 0), 255);
}
