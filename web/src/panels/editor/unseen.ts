/** Characters that nobody sees, which the editor marks. */

/**
 * Invisible characters and characters that reorder text. CodeMirror marks some by itself;
 * these are the other ones: embeddings and isolates of bidirectional text, fillers, joiners,
 * variation selectors, tags and every space but the usual one. Code could hide behind each.
 */
export const UNSEEN =
  /[\u00a0\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;
