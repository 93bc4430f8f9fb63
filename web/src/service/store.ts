/**
 * The cached files, each under its SHA-256, so that builds share equal files. Programs
 * can write to this cache, so every file is checked against its digest.
 */

export class Store {
  readonly #name: string;

  constructor(readonly scope: string) {
    this.#name = `tensorweb-site ${new URL(scope).pathname}`;
  }

  /** Return a file's bytes, null if it is not cached; damaged files are deleted. */
  async find(digest: string): Promise<ArrayBuffer | null> {
    try {
      const cache = await caches.open(this.#name);
      const response = await cache.match(this.#key(digest));
      if (!response) return null;
      const bytes = await response.arrayBuffer();
      if ((await digestOf(bytes)) === digest) return bytes;
      await cache.delete(this.#key(digest));
      return null;
    } catch {
      return null;
    }
  }

  /** Cache a file. Fails if the browser has no room or stores nothing. */
  async keep(digest: string, bytes: ArrayBuffer): Promise<void> {
    await this.#put(digest, bytes);
  }

  /** Record that every file of a build is cached. */
  async complete(build: string): Promise<void> {
    await this.#put(`all-of-${build}`, "");
  }

  /** Whether every file of a build, by default of any build, was cached. */
  async isComplete(build?: string): Promise<boolean> {
    try {
      const keys = await (await caches.open(this.#name)).keys();
      return keys.some(({ url }) => url.startsWith(this.#key(`all-of-${build ?? ""}`)));
    } catch {
      return false;
    }
  }

  /** Record whether a build's page was replaced by the host's, if the browser stores anything. */
  async retire(build: string, isRetired: boolean): Promise<void> {
    const name = `retired-${build}`;
    try {
      if (isRetired) await this.#put(name, "");
      else await (await caches.open(this.#name)).delete(this.#key(name));
    } catch {
      // The service worker remembers it while it runs.
    }
  }

  async isRetired(build: string): Promise<boolean> {
    try {
      return (await (await caches.open(this.#name)).match(this.#key(`retired-${build}`))) !== undefined;
    } catch {
      return false;
    }
  }

  /** Delete everything but these files and the record of this build. */
  async prune(digests: Set<string>, build: string): Promise<void> {
    const stay = new Set([...digests, `all-of-${build}`].map((name) => this.#key(name)));
    try {
      const cache = await caches.open(this.#name);
      const outdated = (await cache.keys()).filter(({ url }) => !stay.has(url));
      await Promise.all(outdated.map((key) => cache.delete(key)));
    } catch {
      // Without a cache there is nothing to delete.
    }
  }

  async #put(name: string, body: BodyInit): Promise<void> {
    await (await caches.open(this.#name)).put(this.#key(name), new Response(body));
  }

  #key(name: string): string {
    return `${this.scope}kept/${name}`;
  }
}

export async function digestOf(bytes: ArrayBuffer): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
