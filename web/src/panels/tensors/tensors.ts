/** Every tensor of the run in a strip, and the chosen one looked into below. */

import { el } from "../../parts/dom";
import { originNote, whyGone } from "../../page/origin";
import type { Page, Part } from "../../page/page";
import type { TensorLook } from "../../page/look";
import type { TensorRecord } from "../../page/protocol";
import { schemeOf, type Scheme } from "../../page/media";
import type { Entry } from "./entries";
import { liveDisplays } from "./live";
import { mountSlider } from "./slider";
import { mountStrip } from "./strip";
import { mountViewer } from "./tensor-viewer";
import "./tensors.css";

export function mountTensors(host: HTMLElement, page: Page): Part {
  const empty = el("p", { class: "empty" }, "Tensors of the run appear here, each as a picture.");
  const inside = el("div", { class: "viewer", hidden: true });
  const strip = mountStrip(page, (entry) => pick(entry));
  host.append(empty, strip.dom, inside);
  const items = mountSlider("item", "Item of the list", (item) => look(item));
  const steps = mountSlider("step", "Step of the display", (step) => lookBack(step));
  steps.dom.hidden = true;
  const viewer = mountViewer(inside, page, el("div", { class: "players" }, items.dom, steps.dom));
  const live = liveDisplays();
  /** Whether the newest picture is shown as it comes. */
  let isFollowing = true;
  let isLive = false;
  let drawn: TensorRecord[] | null = null;
  let entries: Entry[] = [];
  let entry: Entry | null = null;
  let shown = -1;
  let scheme: Scheme | null = null;

  /** What was looked into last: of the same tensor the same part is seen again. */
  const last = { name: "", document: "" };

  /** Look into one tensor of the chosen entry. */
  const look = async (item: number, how: TensorLook | null = null): Promise<void> => {
    const tensor = entry?.tensors[item];
    if (!tensor) return;
    const problem = whyGone(page.view, "tensors", "tensor", "values");
    last.name = entry?.name ?? "";
    await viewer.show(problem ? { ...tensor, problem } : tensor, how);
  };
  /** Show what a display was before; the last step is what it is. */
  const lookBack = (step: number): void => {
    const displays = isLive ? [live.followed() ?? -1] : (entry?.shown.displays ?? []);
    const history = live.history(displays);
    const picture = history?.at(step);
    if (!history || !picture) return;
    isFollowing = step === history.length - 1;
    if (isFollowing && !isLive) void look((entry?.tensors.length ?? 1) - 1);
    else viewer.live(live.record(picture), picture);
  };
  /** Show the newest picture of the display that is followed. */
  const follow = (): void => {
    const display = live.followed();
    const history = live.history([display ?? -1]);
    if (history && isFollowing) steps.set(history.length - 1, history.length);
    steps.dom.hidden = history === null;
    const newest = history?.at(history.length - 1);
    if (newest && isFollowing) viewer.live(live.record(newest), newest);
  };
  /** Put the running program's pictures in the place of what the run before left. */
  const goLive = (): void => {
    isLive = true;
    entry = null;
    strip.expect();
    empty.hidden = true;
    inside.hidden = false;
    items.dom.hidden = true;
    page.change({});
  };
  const select = (next: Entry, item = next.tensors.length - 1, how: TensorLook | null = null): void => {
    entry = next;
    inside.hidden = false;
    strip.choose(next);
    items.stop();
    items.dom.hidden = next.tensors.length === 1;
    items.set(item, next.tensors.length);
    const history = live.history(next.shown.displays);
    steps.stop();
    steps.dom.hidden = history === null;
    if (history) steps.set(history.length - 1, history.length);
    void look(item, how);
  };
  const pick = (next: Entry): void => {
    page.change({ tensor: next.name });
    select(next);
  };
  const redraw = (tensors: TensorRecord[]): void => {
    entries = strip.show(tensors);
    empty.hidden = tensors.length > 0;
    inside.hidden = tensors.length === 0;
    // What the reader chose by hand or a link names, else what the program showed last.
    const again =
      entries.find(({ name }) => name === page.view.tensor) ??
      entries.find(({ tensors: all }) => all.some(({ displays }) => displays.includes(shown))) ??
      entries.find(({ shown: { size, problem } }) => size > 1 && !problem) ??
      entries[0];
    const { origins, look } = page.view;
    const document = origins.tensors?.document ?? "";
    // A link asks for a look that nobody has had here yet.
    const isNew = look !== viewer.told();
    const isSame = again?.name === last.name && document === last.document;
    last.document = document;
    if (again) select(again, again.tensors.length - 1, isNew || isSame ? look : null);
    else viewer.clear();
    strip.reveal();
  };
  return {
    begin: () => {
      shown = -1;
      isLive = false;
      isFollowing = true;
      live.begin();
      items.stop();
      steps.stop();
      viewer.clear();
    },
    note: (note) => {
      if (note.note === "display" && note.tensor) {
        shown = note.display;
        live.display(note);
      }
      if (note.note !== "picture") return;
      const isFollowed = live.picture(note);
      if (!isLive && note.step > 1) goLive();
      if (isFollowed && isLive && !host.hidden) follow();
    },
    update: (view) => {
      if (view.tensors !== drawn) {
        drawn = view.tensors;
        isLive = false;
        redraw(drawn);
      } else if (schemeOf(view) !== scheme) {
        viewer.recolour();
        strip.recolour(schemeOf(view));
      }
      scheme = schemeOf(view);
    },
    // A strip that was not shown could not be scrolled.
    shown: () => strip.reveal(),
    originNote: (view) => (view.tensors.length > 0 && !isLive ? originNote(view, "tensors") : null),
    inspect: (display) => {
      if (isLive && live.follow(display)) {
        isFollowing = true;
        page.show(host.id);
        return follow();
      }
      const has = ({ displays }: TensorRecord): boolean => displays.includes(display);
      const found = entries.find(({ tensors }) => tensors.some(has));
      if (!found) return;
      page.show(host.id);
      page.change({ tensor: found.name });
      select(found, found.tensors.findIndex(has));
      strip.reveal();
    },
  };
}
