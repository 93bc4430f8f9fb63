/** What the browser remembers; a browser that forgets or forbids breaks nothing. */

const PREFIX = "tensorweb:";

export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
  } catch {
    // Storage may be full or forbidden; the page works without it.
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}
