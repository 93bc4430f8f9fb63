/** How the page is shown: in full, compactly inside another page, or not at all. */

export type EmbedMode = "full" | "embedded" | "refused";

/**
 * `?embed=1` asks for the compact page, which knows nothing of the reader. In a frame
 * there is no other: the page around could lay something over the whole one, or change
 * the program just before a click.
 */
export function embedMode(): EmbedMode {
  if (new URLSearchParams(location.search).get("embed") === "1") return "embedded";
  return window.top === window ? "full" : "refused";
}
