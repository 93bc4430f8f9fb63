/** The panel of tensors: displays and tensors of the run in a strip, the selected one large below. */

import { el, perFrame } from "../../parts/dom";
import { originNote, whyUnavailable } from "../../page/run-origin";
import type { Page } from "../../page/page";
import type { ViewSettings } from "../../page/view-settings";
import type { LivePicture, TensorRecord } from "../../page/protocol";
import { schemeOf, type Scheme } from "../../page/media";
import { entriesOf, type Entry } from "./entries";
import { mountExhibits, mountStage, type Exhibit } from "./exhibits";
import { showOrder } from "./front";
import { liveDisplays } from "./live";
import { mountSlider } from "./slider";
import { mountStrip } from "./strip";
import { mountViewer } from "./tensor-viewer";
import "./tensors.css";
import type { Part } from "../../page/view";

export function mountTensors(host: HTMLElement, page: Page): Part {
  const empty = el("p", { class: "empty" }, "What the program shows and its tensors appear here, each as a picture.");
  const inside = el("div", { class: "viewer", hidden: true });
  const strip = mountStrip(page, (one) => pick(one));
  const stage = mountStage();
  host.append(empty, strip.dom, stage.dom, inside);
  const items = mountSlider("item", "Item of the list", (item) => look(item));
  const steps = mountSlider("step", "Step of the display", (step) => lookBack(step));
  steps.dom.hidden = true;
  const viewer = mountViewer(inside, page, el("div", { class: "players" }, items.dom, steps.dom));
  const live = liveDisplays();
  const exhibits = mountExhibits();
  const shown = showOrder();
  /** Whether the newest picture is shown when it arrives. */
  let isFollowing = true;
  let isLive = false;
  let drawn: TensorRecord[] | null = null;
  let entries: Entry[] = [];
  let entry: Entry | null = null;
  let exhibit: Exhibit | null = null;
  let scheme: Scheme | null = null;

  /** The view settings shown last: a tensor of equal name is shown with them again. */
  const last = { name: "", document: "" };

  /** Show tensors or other displays in the large pane. */
  const open = (isExhibit: boolean): void => {
    inside.hidden = isExhibit;
    stage.dom.hidden = !isExhibit;
    empty.hidden = true;
  };
  /** Show one tensor of the selected entry. */
  const look = async (item: number, how: ViewSettings | null = null): Promise<void> => {
    const tensor = entry?.tensors[item];
    if (!tensor) return;
    const problem = whyUnavailable(page.view, "tensors", "tensor", "values");
    last.name = entry?.name ?? "";
    await viewer.show(problem ? { ...tensor, problem } : tensor, how);
  };
  /** Show an earlier picture of a display; the last step is the current one. */
  const lookBack = (step: number): void => {
    const displays = isLive ? [shown.moving() ?? -1] : (entry?.shown.displays ?? []);
    const history = live.history(displays);
    const picture = history?.at(step);
    if (!history || !picture) return;
    isFollowing = step === history.length - 1;
    if (isFollowing && !isLive) void look((entry?.tensors.length ?? 1) - 1);
    else viewer.live(live.record(picture), picture);
  };
  /** Show the newest picture of the followed display. */
  const follow = (): void => {
    const history = live.history([shown.moving() ?? -1]);
    if (history && isFollowing) steps.set(history.length - 1, history.length);
    steps.dom.hidden = history === null;
    const newest = history?.at(history.length - 1);
    if (newest && isFollowing) viewer.live(live.record(newest), newest);
  };
  /** Replace the previous run's pictures by those of the running program. */
  const goLive = (): void => {
    if (isLive) return;
    isLive = true;
    entry = null;
    strip.expect();
    items.dom.hidden = true;
    page.change({});
  };
  const present = perFrame(() => exhibit && stage.show(exhibit));
  /** Show a plot or a picture of the running program in its newest state. */
  const showLive = (next: Exhibit): void => {
    exhibit = next;
    goLive();
    open(true);
    present();
    host.dataset["view"] = "ready";
  };
  const moved = (note: LivePicture): void => {
    live.picture(note);
    if (note.step < 2 || !shown.moves(note.display)) return;
    goLive();
    open(false);
    if (!host.hidden) follow();
  };
  const select = (next: Entry, item = next.tensors.length - 1, how: ViewSettings | null = null): void => {
    entry = next;
    exhibit = null;
    open(false);
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
  const selectExhibit = (next: Exhibit): void => {
    viewer.clear();
    entry = null;
    exhibit = next;
    open(true);
    strip.choose(next);
    stage.show(next);
    host.dataset["view"] = "ready";
  };
  const pick = (next: Entry | Exhibit): void => {
    const isTensor = "tensors" in next;
    page.change({ tensor: isTensor ? next.name : "" });
    if (isTensor) select(next);
    else selectExhibit(next);
  };
  /** The last display with a picture, else the first tensor with a picture. */
  const front = (): Entry | Exhibit | null => {
    const isDrawn = ({ size, problem }: TensorRecord): boolean => size > 1 && !problem;
    for (const display of shown.newestFirst()) {
      const has = (tensor: TensorRecord): boolean => tensor.displays.includes(display) && isDrawn(tensor);
      const latest = exhibits.get(display) ?? entries.find(({ tensors }) => tensors.some(has));
      if (latest) return latest;
    }
    return entries.find(({ shown: one }) => isDrawn(one)) ?? entries[0] ?? null;
  };
  const redraw = (tensors: TensorRecord[]): void => {
    entries = entriesOf(tensors);
    const newest = front();
    strip.show(entries, exhibits.all(), newest);
    empty.hidden = newest !== null;
    inside.hidden = stage.dom.hidden = true;
    // The reader's or the link's choice, else the last display.
    const again = entries.find(({ name }) => name === page.view.tensor) ?? newest;
    const { origins, viewSettings } = page.view;
    const document = origins.tensors?.document ?? "";
    // A link's view settings apply before the viewer reports its own.
    const isNew = viewSettings !== viewer.reportedSettings();
    const isSame = again?.name === last.name && document === last.document;
    last.document = document;
    if (!again) viewer.clear();
    else if ("tensors" in again) select(again, again.tensors.length - 1, isNew || isSame ? viewSettings : null);
    else selectExhibit(again);
    strip.reveal();
  };
  return {
    begin: () => {
      isLive = false;
      isFollowing = true;
      live.begin();
      exhibits.begin();
      shown.begin();
      items.stop();
      steps.stop();
      viewer.clear();
    },
    note: (note) => {
      const taken = exhibits.take(note);
      if (taken?.isNew) shown.add(taken.exhibit.display);
      if (taken && (taken.isNew || shown.moves(taken.exhibit.display))) return showLive(taken.exhibit);
      if (note.note === "display" && note.tensor) {
        shown.add(note.display);
        live.display(note);
      } else if (note.note === "picture") moved(note);
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
    // A hidden strip cannot be scrolled.
    shown: () => strip.reveal(),
    originNote: (view) => {
      const hasAny = view.tensors.length + exhibits.all().length > 0;
      return hasAny && !isLive ? originNote(view, "tensors") : null;
    },
    lookAt: (id) => {
      const target = entries.find(({ tensors }) => tensors.some((one) => one.id === id));
      if (!target || isLive) return;
      page.show(host.id);
      page.change({ tensor: target.name });
      select(target, target.tensors.findIndex((one) => one.id === id));
      strip.reveal();
    },
    inspect: (display) => {
      const large = exhibits.get(display);
      if (isLive && (large || live.history([display]))) {
        shown.choose(display);
        isFollowing = true;
        page.show(host.id);
        if (large) return showLive(large);
        open(false);
        return follow();
      }
      const has = ({ displays }: TensorRecord): boolean => displays.includes(display);
      const target = large ?? entries.find(({ tensors }) => tensors.some(has));
      if (!target) return;
      page.show(host.id);
      page.change({ tensor: "tensors" in target ? target.name : "" });
      if ("tensors" in target) select(target, target.tensors.findIndex(has));
      else selectExhibit(target);
      strip.reveal();
    },
  };
}
