/** One tensor looked into: its picture with scale and facts, its axes, its values. */

import { button, el } from "../../parts/dom";
import type { Page } from "../../page/page";
import type { Heatmap, LivePicture, Pooling, Slice, TensorRecord, Wanted } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { schemeOf, type Scheme } from "../../page/media";
import { mountAxes } from "./axes";
import { pictureText } from "./cell-text";
import { factList, flags, pictureFacts, typeOf } from "./facts";
import { decodeHeatmap, type Picture } from "./heatmap";
import { mountCanvas } from "./heatmap-view";
import { newestOf } from "./newest";
import { liveSlice } from "./live";
import { mountScaleBar } from "./scale-bar";
import { mountTable } from "./table";
import { unpack } from "./unpack";

export interface Viewer {
  show(tensor: TensorRecord): Promise<void>;
  /** Show a picture that came by itself, of a tensor that cannot be asked about. */
  live(tensor: TensorRecord, picture: LivePicture): void;
  clear(): void;
  recolour(scheme: Scheme): void;
}

const POOLINGS: readonly { name: Pooling; label: string }[] = [
  { name: "mean", label: "mean of each block" },
  { name: "extreme", label: "value farthest from zero" },
  { name: "corner", label: "first rows and columns" },
];

/** A question that takes longer than this is waited for visibly. */
const PATIENCE_MS = 150;

export function mountViewer(host: HTMLElement, page: Page, items: HTMLElement): Viewer {
  const title = el("h2", { class: "viewer-title" });
  const type = el("span", { class: "viewer-facts" });
  const flagged = el("span", { class: "viewer-flags" });
  const axes = mountAxes(() => refresh());
  const options = POOLINGS.map(({ name, label }) => el("option", { value: name }, label));
  const pooling = el("select", {}, ...options);
  const poolingLabel = el("label", { class: "field" }, "Show the ", pooling);
  pooling.addEventListener("change", () => void refresh());
  const problem = el("p", { class: "viewer-problem", role: "status" });
  const wait = el("p", { class: "viewer-wait", role: "status", hidden: true }, "Computing…");
  const canvas = mountCanvas();
  const scale = mountScaleBar();
  const facts = el("dl", { class: "facts" });
  const table = mountTable(page);
  const note = el("p", { class: "legend-note picture-note" });
  const views = [
    button("Picture", () => choose(false), { class: "quiet", "aria-pressed": "true" }),
    button("Table", () => choose(true), { class: "quiet", "aria-pressed": "false" }),
  ] as const;
  const picture = el("div", { class: "viewer-body" }, canvas.dom, scale.dom, facts);
  const head = el(
    "div",
    { class: "viewer-head" },
    title,
    type,
    flagged,
    canvas.tools,
    el("div", { class: "viewer-views", role: "group", "aria-label": "View" }, ...views),
  );
  const place = el("input", { type: "text", class: "go-to", "aria-label": "Go to index", placeholder: "Go to index", autocomplete: "off", spellcheck: "false" });
  const choices = el("div", { class: "choices" }, items, axes.dom, place, poolingLabel, note);
  host.append(head, problem, picture, table.dom, choices, wait);
  const panel = host.parentElement ?? host;
  const heatmaps = newestOf(page, "heatmap");
  const samples = newestOf(page, "sample");
  const statistics = newestOf(page, "statistics");
  let tensor: TensorRecord | null = null;
  let generation = 0;
  let live: TensorRecord | null = null;
  let isTable = false;
  let waiting = 0;

  const choose = (wantsTable: boolean): void => {
    isTable = wantsTable;
    views[0].setAttribute("aria-pressed", String(!isTable));
    views[1].setAttribute("aria-pressed", String(isTable));
    picture.hidden = isTable;
    table.dom.hidden = !isTable;
    canvas.tools.hidden = isTable;
    void refresh();
  };
  const settle = (state: "loading" | "ready" | "error" | "empty"): void => {
    clearTimeout(waiting);
    wait.hidden = true;
    if (state === "loading") waiting = window.setTimeout(() => (wait.hidden = false), PATIENCE_MS);
    panel.dataset["view"] = state;
  };
  /** Ask for everything of the slice; an answer for another tensor is dropped. */
  const refresh = async (): Promise<void> => {
    if (!tensor || tensor.problem) return;
    const mine = ++generation;
    const shown = tensor;
    const slice: Slice = { tensor: shown.id, ...axes.chosen() };
    settle("loading");
    try {
      const how = pooling.value as Pooling;
      const map = await heatmaps.ask({ ...slice, how, size: "full" });
      if (!map || tensor !== shown) return;
      draw(map, slice, shown);
      if (mine !== generation) return;
      if (isTable) await table.show(slice, map.fullRows, map.fullColumns);
      if (mine === generation) settle("ready");
      if (mine === generation && shown.size > 0 && shown.max === undefined) await tell(shown);
      if (mine === generation && map.how !== "each" && map.rows > 0) await countSample(slice, mine);
    } catch (error) {
      if (mine !== generation) return;
      problem.textContent = messageOf(error);
      settle("error");
    }
  };
  const draw = (map: Heatmap, slice: Slice, shown: TensorRecord): Picture => {
    problem.textContent = shown.size === 0 ? "This tensor has no elements." : "";
    poolingLabel.hidden = map.how === "each";
    const drawn: Picture = decodeHeatmap(map, schemeOf(page.view));
    picture.classList.toggle("without-picture", map.rows === 0);
    canvas.show(drawn, slice, shown);
    canvas.tools.hidden ||= isTable;
    note.textContent = map.rows > 0 ? pictureText(drawn) : "";
    if (map.rows === 0) scale.clear();
    else scale.show(drawn.scale);
    if (map.how === "each" && map.rows > 0) scale.count(drawn.values, 1);
    return drawn;
  };
  /** Pooled values have another distribution than what they were made of. */
  const countSample = async (slice: Slice, mine: number): Promise<void> => {
    const found = await samples.ask(slice);
    if (found && mine === generation) scale.count(unpack(found.values, found.encoding), found.step);
  };
  /** Tell the statistics of a tensor that nobody has looked at before. */
  const tell = async (shown: TensorRecord): Promise<void> => {
    const found = await statistics.ask({ tensor: shown.id });
    if (!found || tensor !== shown) return;
    Object.assign(shown, found);
    describe(shown);
  };
  const describe = (shown: TensorRecord): void => {
    flagged.replaceChildren(...flags(shown));
    facts.replaceChildren(...factList(shown, (what) => void jump(shown, what)));
  };
  /** Look at the largest or smallest value, or at the first NaN. */
  const jump = async (shown: TensorRecord, what: Wanted): Promise<void> => {
    try {
      const { index } = await page.ask("find", { tensor: shown.id, what });
      if (index) await goTo(shown, index);
    } catch (error) {
      problem.textContent = messageOf(error);
    }
  };
  const goTo = async (shown: TensorRecord, index: readonly number[]): Promise<void> => {
    if (tensor !== shown) return;
    if (isTable) choose(false);
    axes.goTo(index);
    await refresh();
    const { rows, columns } = axes.chosen();
    canvas.goTo(rows === null ? 0 : (index[rows] ?? 0), columns === null ? 0 : (index[columns] ?? 0));
  };
  /** Go to the element that somebody typed: `2, 0, 7` or `[2, 0, 7]`. */
  const goToTyped = (): void => {
    if (!tensor) return;
    const { shape } = tensor;
    const typed = (place.value.match(/-?\d+/g) ?? []).map(Number);
    const index = typed.map((value, axis) => (value < 0 ? value + (shape[axis] ?? 0) : value));
    const isThere = index.length === shape.length && index.every((value, axis) => value >= 0 && value < (shape[axis] ?? 0));
    place.setCustomValidity(isThere ? "" : `Type ${shape.length} whole numbers within the shape.`);
    if (isThere) void goTo(tensor, index);
    else place.reportValidity();
  };
  place.addEventListener("change", goToTyped);
  const fail = (text: string): void => {
    problem.textContent = text;
    canvas.clear();
    scale.clear();
    table.clear();
    note.textContent = "";
    settle("error");
  };
  return {
    show: async (next) => {
      tensor = next;
      live = null;
      choices.classList.remove("is-live");
      generation++;
      title.textContent = next.name;
      type.textContent = typeOf(next);
      describe(next);
      axes.show(next.shape);
      place.value = "";
      place.hidden = next.shape.length === 0;
      if (next.problem) fail(next.problem);
      else await refresh();
    },
    live: (next, picture) => {
      // The same record as before keeps the place that the reader has zoomed to.
      const isSame = live?.displays[0] === next.displays[0] && live?.name === next.name;
      const shown = isSame && live ? live : next;
      live = shown;
      tensor = null;
      generation++;
      choices.classList.add("is-live");
      title.textContent = shown.name;
      type.textContent = typeOf(shown);
      const drawn = draw(picture.heatmap, liveSlice(picture), shown);
      flagged.replaceChildren();
      facts.replaceChildren(...pictureFacts(drawn.extent, picture.step));
      settle("ready");
    },
    clear: () => {
      tensor = null;
      generation++;
      settle("empty");
    },
    recolour: (scheme) => {
      const drawn = canvas.recolour(scheme);
      if (drawn) scale.show(drawn.scale);
    },
  };
}
