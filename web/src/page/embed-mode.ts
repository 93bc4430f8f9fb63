/** How the page is shown: in full, compactly inside another page, or not at all. */

export type EmbedMode = "full" | "embedded" | "refused";

/**
 * `?embed=1` requests the compact page, which reads no data of the reader. In a frame
 * no other mode exists: the surrounding page could cover the full one, or change
 * the program just before a click (clickjacking).
 */
export function embedMode(): EmbedMode {
  if (new URLSearchParams(location.search).get("embed") === "1") return "embedded";
  return window.top === window ? "full" : "refused";
}
