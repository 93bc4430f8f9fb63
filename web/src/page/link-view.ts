/** A link's view settings and expected results. */

import type { Check } from "./checks";
import { isFocus } from "./focus";
import { decodeCode, LONGEST_LOOK, type Fragment } from "./link";
import { RESPONSES } from "./protocol";
import type { Pane, Store } from "./view";
import { isViewSettings } from "./view-settings";

const TRUST = "Read it, then press Run if you trust it.";
const LONGEST_RESULTS = 60_000;

export class LinkView {
  /** The tensorweb version that made the open link. */
  #version: string | null = null;
  /** Descriptions of the parameters that could not be read. */
  #refused: readonly string[] = [];
  /** The program of the link; another one may be open by now. */
  #document = "";

  constructor(
    readonly store: Store,
    readonly panels: readonly { id: string; pane: Pane }[],
  ) {}

  /** Apply the link's view settings, once the reader has run its program. */
  async apply(document: string, fragment: Fragment): Promise<void> {
    const { store } = this;
    const sent = await unpacked(fragment.results, RESPONSES.fingerprint, LONGEST_RESULTS);
    const look = await unpacked(fragment.look, isViewSettings, LONGEST_LOOK);
    const focus = await unpacked(fragment.focus, isFocus, LONGEST_LOOK);
    if (store.view.document.id !== document) return;
    const panel = this.panels.find(({ id, pane }) => pane === "results" && id === fragment.tab);
    const refused = [...fragment.refused];
    if (fragment.tab !== null && !panel) refused.push("panel");
    if (look === undefined) refused.push("view");
    if (focus === undefined) refused.push("place");
    if (sent === undefined) refused.push("results");
    this.#document = document;
    this.#version = fragment.version;
    this.#refused = refused;
    const result = panel?.id ?? store.view.result;
    store.change({ tensor: fragment.tensor ?? "", viewSettings: look ?? null, focus: focus ?? null, result, sent: sent ?? null });
    if (refused.length > 0) this.#say();
    this.compareVersions();
  }

  /** Warn if the link was made with another version of tensorweb than the one that has started. */
  compareVersions(): void {
    const { started, document } = this.store.view;
    if (!started || document.id !== this.#document || this.#version === null) return;
    if (this.#version !== started.version) this.#say();
    this.#version = null;
  }

  /** Drop the link's settings: another program is open. */
  forget(): void {
    this.#document = "";
    this.#version = null;
  }

  #say(): void {
    const { started } = this.store.view;
    const isOther = started !== null && this.#version !== null && this.#version !== started.version;
    const made = isOther ? `, made with tensorweb ${this.#version}; this is ${started.version}` : "";
    const parts = this.#refused.join(" and the ");
    const left = parts ? ` The ${parts} in it could not be read and had to be left out.` : "";
    this.store.notify({ kind: parts ? "warning" : "info", text: `This program came with a link${made}.${left} ${TRUST}` });
  }
}

/** Unpack a parameter of a link; undefined if it is damaged, too long or invalid. */
async function unpacked<T>(packed: string | null, check: Check<T>, most: number): Promise<T | null | undefined> {
  if (packed === null) return null;
  try {
    const settings: unknown = JSON.parse(await decodeCode(packed, most));
    return check(settings) ? settings : undefined;
  } catch {
    return undefined;
  }
}
