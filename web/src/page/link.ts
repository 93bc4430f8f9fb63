/** A program inside a link, and its other parameters: `#code=` holds deflate-raw bytes in base64url. */

import { unpack } from "./program";

const MOST_BYTES = 2_000_000;
/** The lengths of a description of what is looked at: its JSON, and that packed. */
export const LONGEST_LOOK = 4_000;
export const LONGEST_PACKED_LOOK = 2_000;
const LOOK = new RegExp(`^[\\w-]{1,${LONGEST_PACKED_LOOK}}$`);

/** Pack a program for the address; the server never sees it. */
export async function encodeCode(source: string): Promise<string> {
  const packed = new Blob([source]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const text = base64Of(new Uint8Array(await new Response(packed).arrayBuffer()));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(text);
}

/** Unpack a program from a link. Throws if it is damaged, too long, or has invalid files. */
export async function decodeCode(text: string, most = MOST_BYTES): Promise<string> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let source = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    source += decoder.decode(value, { stream: true });
    if (source.length > most) {
      await reader.cancel();
      throw new Error("what is in this link is too long");
    }
  }
  source += decoder.decode();
  unpack(source);
  return source;
}

/** The contents of an address: a program, an example, one of the reader's own, or nothing. */
export interface Fragment {
  code: string | null;
  example: string | null;
  own: string | null;
  /** The chosen tensor, the panel in front, the tensorweb version that made the link. */
  tensor: string | null;
  tab: string | null;
  version: string | null;
  /** The settings of the tensor's view, packed. */
  look: string | null;
  /** What another panel looks at, packed. */
  focus: string | null;
  /** Fingerprints of the sender's results, packed. */
  results: string | null;
  /** Descriptions of the invalid parameters. */
  refused: readonly string[];
}

/** The other parameters of a link: their names, patterns and descriptions. */
const PARAMETERS = {
  tensor: { name: "t", form: /^[^\p{C}]{1,400}$/u, words: "tensor" },
  tab: { name: "tab", form: /^[a-z]{1,20}$/, words: "panel" },
  look: { name: "look", form: LOOK, words: "view" },
  focus: { name: "at", form: LOOK, words: "place" },
  version: { name: "v", form: /^[\w.+-]{1,40}$/, words: "version" },
  results: { name: "fp", form: /^[\w-]{1,20000}$/, words: "results" },
} as const;

type ParameterValues = Record<keyof typeof PARAMETERS, string | null>;

/** Read an address; `?example=` is for links that cannot have a fragment. */
export function readAddress({ hash, search }: { hash: string; search: string }): Fragment {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const fromQuery = hash === "" ? new URLSearchParams(search).get("example") : null;
  const values: ParameterValues = { tensor: null, tab: null, look: null, focus: null, version: null, results: null };
  const refused: string[] = [];
  for (const [key, { name, form, words }] of Object.entries(PARAMETERS)) {
    const value = fields.get(name);
    if (value === null) continue;
    if (form.test(value)) values[key as keyof ParameterValues] = value;
    else refused.push(words);
  }
  return {
    code: fields.get("code"),
    example: fields.get("ex") ?? fromQuery,
    own: fields.get("own"),
    ...values,
    refused,
  };
}
