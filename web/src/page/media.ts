/** The window's media features: narrow or wide, light or dark. */

export type Scheme = "light" | "dark";

/** The colour theme that the reader chose. */
export type Theme = "system" | Scheme;

const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function themeNamed(name: string | null): Theme {
  return THEMES.find((theme) => theme === name) ?? "system";
}

/** The next theme of the button that changes it. */
export function themeAfter(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? theme;
}

export interface Media {
  /** Whether only one panel fits; `page.css` has the same limit. */
  isNarrow: boolean;
  systemScheme: Scheme;
}

const NARROW = matchMedia("(max-width: 719px)");
const DARK = matchMedia("(prefers-color-scheme: dark)");

export function media(): Media {
  return { isNarrow: NARROW.matches, systemScheme: DARK.matches ? "dark" : "light" };
}

/** Call `onChange` at every change. */
export function watchMedia(onChange: (now: Media) => void): void {
  for (const query of [NARROW, DARK]) query.addEventListener("change", () => onChange(media()));
}

/** The effective colour scheme. */
export function schemeOf({ theme, systemScheme }: { theme: Theme; systemScheme: Scheme }): Scheme {
  return theme === "system" ? systemScheme : theme;
}
