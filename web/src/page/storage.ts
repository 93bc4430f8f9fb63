/** What the browser remembers; a browser that forgets or forbids breaks nothing. */

const PREFIX = "tensorweb:";

/** Why the browser did not keep something. */
export type Refusal = "full" | "blocked";

/** Keep a text, or forget it for null. Returns why the browser refused, else null. */
export function remember(key: string, value: string | null): Refusal | null {
  try {
    if (value === null) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, value);
    return null;
  } catch (error) {
    const isFull = error instanceof DOMException && error.name === "QuotaExceededError";
    return isFull ? "full" : "blocked";
  }
}

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

/** Every key that begins so; none where the browser keeps nothing. */
export function keysWith(beginning: string): string[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX + beginning))
      .map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** Tell of every key that another tab changes; null when it cleared all of them. */
export function onOtherTabs(tell: (key: string | null) => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === null) tell(null);
    else if (key.startsWith(PREFIX)) tell(key.slice(PREFIX.length));
  });
}

/** Keep a text for this tab alone, until it is closed; used for undo histories only. */
export function rememberInTab(key: string, value: string): void {
  try {
    sessionStorage.setItem(PREFIX + key, value);
  } catch {
    // Without it a reload loses what could be undone, not the program.
  }
}

export function recallInTab(key: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}
