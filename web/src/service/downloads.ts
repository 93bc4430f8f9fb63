/** Downloads of the service worker, passed on only if they have the digest of this build. */

import { digestOf } from "./store";

/** Longer files are streamed, so that the page can show progress. */
const LONGEST_WAIT = 1_000_000;

export interface Download {
  /** Null if the bytes are already known to belong to another build. */
  response: Response | null;
  /** All bytes; null if they belong to another build. */
  bytes: Promise<ArrayBuffer | null>;
}

/** Pass on a response of the host with our headers. */
export async function pass(answer: Response, digest: string, headers: HeadersInit): Promise<Download> {
  const length = Number(answer.headers.get("content-length") ?? Infinity);
  if (length > LONGEST_WAIT && answer.body) return stream(answer.body, digest, headers);
  const bytes = (await checked(answer.arrayBuffer(), digest)) ?? (await download(answer.url, digest));
  return { response: bytes && new Response(bytes, { headers }), bytes: Promise.resolve(bytes) };
}

/** Fetch a file past HTTP caches; null if the host has another version. */
export async function download(address: string, digest: string): Promise<ArrayBuffer | null> {
  for (const cache of ["default", "reload"] as const) {
    const answer = await fetch(address, { cache });
    const bytes = answer.ok ? await checked(answer.arrayBuffer(), digest) : null;
    if (bytes) return bytes;
  }
  return null;
}

async function checked(coming: Promise<ArrayBuffer>, digest: string): Promise<ArrayBuffer | null> {
  const bytes = await coming;
  return (await digestOf(bytes)) === digest ? bytes : null;
}

/** Withhold the last chunk until the digest is checked, so that no reader accepts a wrong file. */
function stream(body: ReadableStream<Uint8Array>, digest: string, headers: HeadersInit): Download {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = body.getReader();
  let settle: (bytes: ArrayBuffer | null) => void = () => undefined;
  const bytes = new Promise<ArrayBuffer | null>((resolve) => (settle = resolve));
  const source = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) {
          parts.push(value.slice());
          return controller.enqueue(value);
        }
        const whole = await checked(new Blob(parts).arrayBuffer(), digest);
        if (!whole) throw new Error("the host has this file of another build");
        settle(whole);
        controller.close();
      } catch (error) {
        settle(null);
        controller.error(error);
      }
    },
    cancel(reason) {
      settle(null);
      return reader.cancel(reason);
    },
  });
  return { response: new Response(source, { headers }), bytes };
}
