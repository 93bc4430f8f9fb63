/** What the browser's window is like: narrow or wide, light or dark. */

export type Scheme = "light" | "dark";

/** The colours that the reader chose. */
export type Theme = "system" | Scheme;

export interface Media {
  /** Whether there is room for one panel only; `page.css` has the same limit. */
  isNarrow: boolean;
  systemScheme: Scheme;
}

const NARROW = matchMedia("(max-width: 719px)");
const DARK = matchMedia("(prefers-color-scheme: dark)");

export function media(): Media {
  return { isNarrow: NARROW.matches, systemScheme: DARK.matches ? "dark" : "light" };
}

/** Call `tell` at every change. */
export function watchMedia(tell: (now: Media) => void): void {
  for (const query of [NARROW, DARK]) query.addEventListener("change", () => tell(media()));
}

/** The colours that are seen. */
export function schemeOf({ theme, systemScheme }: { theme: Theme; systemScheme: Scheme }): Scheme {
  return theme === "system" ? systemScheme : theme;
}
