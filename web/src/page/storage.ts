/** The browser's storage; the page also works where storage is missing or blocked. */

export const PREFIX = "tensorweb:";

/** The key of the program that a link of the documents has opened. */
export const DOCUMENTED = "documented";

/** Why the browser did not store a value. */
export type Refusal = "full" | "blocked";

/** Store a text, or delete it for null. Returns why the browser refused, else null. */
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

/** Every key with this prefix; none where the browser stores nothing. */
export function keysWith(beginning: string): string[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX + beginning))
      .map((key) => key.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/** Call `onChange` with every key that another tab changes; null if it cleared all of them. */
export function onOtherTabs(onChange: (key: string | null) => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === null) onChange(null);
    else if (key.startsWith(PREFIX)) onChange(key.slice(PREFIX.length));
  });
}

/** Store a text for this tab only, until it is closed: an undo history, a step of the tour. */
export function rememberInTab(key: string, value: string | null): void {
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + key);
    else sessionStorage.setItem(PREFIX + key, value);
  } catch {
    // Without storage a reload loses the undo history, not the program.
  }
}

export function recallInTab(key: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}
