/** The viewer of one tensor: its picture with scale and facts, its axes, its values. */

import { button, el, find } from "../../parts/dom";
import { fits, type Bounds, type ViewSettings } from "../../page/view-settings";
import type { Page } from "../../page/page";
import type { Slice } from "../../page/messages";
import type { Extreme, Heatmap, LivePicture, Pair, Pooling, TensorRecord } from "../../page/protocol";
import { messageOf } from "../../page/session";
import { schemeOf } from "../../page/media";
import { mountChart } from "../../parts/chart";
import { originLine } from "../../parts/nonfinite";
import { mountAxes } from "./axes";
import { about, bounded } from "./bounds";
import { cellText, curveText, pictureText } from "./cell-text";
import { curveOf, isLine, numberOf, type Drawing } from "./curve";
import { downloadButtons } from "./downloads";
import { factList, flags, pictureFacts, typeOf } from "./facts";
import { mountGoTo } from "./go-to";
import { decodeHeatmap, ownScale, repaint } from "./heatmap";
import type { Picture } from "./picture";
import { mountCanvas } from "./heatmap-view";
import { shownOf } from "./picture";
import { mountModes } from "./modes";
import { mountMore } from "./more-menu";
import { latestOnly } from "./latest-only";
import { mountLayout } from "./layout";
import { liveSlice } from "./live";
import { mountPair, type PairView } from "./pair-view";
import { mountPartners } from "./partners";
import { mountScaleBar } from "./scale-bar";
import { copyPicture } from "./copy-picture";
import { sheetOf } from "./sheet";
import { mountTable } from "./table";
import { unpack } from "./unpack";

export interface Viewer {
  /** Show a tensor with these view settings if they fit, else with its default ones. */
  show(tensor: TensorRecord, look?: ViewSettings | null): Promise<void>;
  /** Show a picture sent by the running program, whose tensor cannot be requested. */
  live(tensor: TensorRecord, picture: LivePicture): void;
  clear(): void;
  /** The view settings that were last reported to the page. */
  reportedSettings(): ViewSettings | null;
  /** Draw in the colours of the page. */
  recolour(): void;
}

const POOLINGS: readonly { name: Pooling; label: string }[] = [
  { name: "mean", label: "mean of each block" },
  { name: "extreme", label: "value farthest from zero" },
  { name: "corner", label: "first rows and columns" },
];

/** Milliseconds after which a pending request is shown as loading. */
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
  const made = el("div", { class: "viewer-made", role: "status" });
  const problem = el("p", { class: "viewer-problem", role: "status" });
  const wait = el("p", { class: "viewer-wait", role: "status", hidden: true }, "Computing…");
  const canvas = mountCanvas({
    centre: (value) => drawn && setBounds(about(value, drawn.values) ?? bounds),
    reset: () => setBounds(null),
    why: () => why(),
    pointed: (cell) => cell && tensor && isLayout() && layout.point(indexOf(tensor, cell.row, cell.column)),
  });
  /** The point of the curve that was looked at last. */
  let point = 0;
  const curve = mountChart({
    fills: true,
    reading: ({ index }) => (point = index, line ? cellText(line.picture, line.slice, line.tensor, 0, index) : ""),
  });
  const number = el("p", { class: "viewer-number" });
  const scale = mountScaleBar({ choose: (next) => setBounds(next), hold: (next) => setHeld(next) });
  const facts = el("dl", { class: "facts" });
  const table = mountTable(page);
  const layout = mountLayout(page, (index) => tensor && visit(tensor, index));
  const note = el("p", { class: "legend-note picture-note" });
  const modes = mountModes(() => refit());
  const goToField = mountGoTo((index) => tensor && void goTo(tensor, index));
  const body = el("div", { class: "viewer-body" }, canvas.dom, curve.dom, number, scale.dom, facts, layout.dom);
  const sheet = (): HTMLCanvasElement | null => {
    if (!drawn || drawn.map.rows === 0) return null;
    const { rows, columns, indices } = axes.chosen();
    const cuts = indices.flatMap((index, axis) => (axis === rows || axis === columns ? [] : [`axis ${axis} at ${index}`]));
    const facts = [type.textContent, ...(tensor ? cuts : [])].join(" · ");
    const words = { title: title.textContent, facts, note: note.textContent };
    const { color: ink, backgroundColor: ground } = getComputedStyle(find(".pane[data-pane='results']"));
    return sheetOf(drawn, { ...words, program: page.view.document.title, ink, ground, muted: getComputedStyle(type).color });
  };
  const copy = copyPicture(page, sheet, () => title.textContent);
  canvas.tools.append(copy);
  const partners = mountPartners((id) => void compare(id));
  const stop = button("Stop comparing", () => void compare(null), { class: "quiet", hidden: true });
  const files = downloadButtons(page, () => tensor && { tensor, slice: sliceOf(tensor), picture: drawn }, () => menu.close());
  const menu = mountMore("More of this tensor", partners.dom, ...files);
  const name = el("div", { class: "viewer-name" }, title, type, flagged);
  const ask = button("Why?", () => void why(), { class: "quiet", title: "Why has this cell its value? (W)" });
  const head = el("div", { class: "viewer-head" }, name, ask, modes.dom, stop, menu.dom);
  const choices = el(
    "div",
    { class: "choices" },
    el("div", { class: "choices-line" }, axes.dom, goToField.dom, poolingLabel),
    el("div", { class: "sliders" }, items, axes.sliders),
    note,
  );
  host.append(head, made, problem, body, table.dom, choices, wait);
  const panel = host.parentElement ?? host;
  const heatmaps = latestOnly(page, "heatmap");
  const samples = latestOnly(page, "sample");
  const statistics = latestOnly(page, "statistics");
  let tensor: TensorRecord | null = null;
  let generation = 0;
  let live: TensorRecord | null = null;
  let waiting = 0;
  let drawn: Picture | null = null;
  /** The curve. */
  let line: { picture: Picture; slice: Slice; tensor: TensorRecord } | null = null;
  /** The bounds that the reader chose, null for the default scale. */
  let bounds: Bounds | null = null;
  let isHeld = false;
  let reportedSettings = page.view.viewSettings;
  /** The comparison with another tensor. */
  let pair: Pair | null = null;
  let both: PairView | null = null;

  const sliceOf = ({ id }: TensorRecord): Slice => ({ tensor: id, ...axes.chosen() });
  const isTable = (): boolean => modes.mode() === "table";
  const isLayout = (): boolean => modes.mode() === "layout";
  const isColoured = (): boolean => modes.mode() === "colours";
  /** The index of a cell's first element. */
  const indexOf = (shown: TensorRecord, row: number, column: number): number[] => {
    const { rows, columns, indices } = axes.chosen();
    const { blockRows = 1, blockColumns = 1 } = drawn?.map ?? {};
    return shown.shape.map((_, axis) => (axis === rows ? row * blockRows : axis === columns ? column * blockColumns : (indices[axis] ?? 0)));
  };
  const drawingOf = (shown: TensorRecord): Drawing => {
    if (shown.size === 1) return "number";
    return isLine(shown) && modes.mode() !== "cells" && !isLayout() ? "curve" : "cells";
  };
  /** Show the elements of the chosen mode. */
  const arrange = (shown: TensorRecord): void => {
    body.hidden = isTable() || pair !== null;
    table.dom.hidden = !isTable() || pair !== null;
    layout.dom.hidden = !isLayout() || pair !== null;
    body.classList.toggle("with-layout", isLayout());
    if (!pair) both?.dom.remove();
    modes.dom.hidden = pair !== null;
    stop.hidden = pair === null;
    ask.hidden = pair !== null;
    axes.show(pair?.first ?? shown, isColoured() && pair === null);
    goToField.show((pair?.first ?? shown).shape);
  };
  /** Ask why the cell of the cursor has its value; before it was moved, why the first NaN or infinity is there. */
  const why = async (): Promise<void> => {
    if (!tensor) return;
    const { id, name, nan = 0, inf = 0 } = tensor;
    const { rows, columns, indices } = axes.chosen();
    const { row, column } = line ? { row: 0, column: point } : canvas.cursor();
    const map = drawn?.map;
    const at = (axis: number, fixed: number): number => {
      if (axis === rows) return row * (map?.blockRows ?? 1);
      return axis === columns ? column * (map?.blockColumns ?? 1) : fixed;
    };
    const index = indices.map((fixed, axis) => at(axis, fixed));
    const isFirst = nan + inf > 0 && index.every((one) => one === 0);
    const found = isFirst ? await page.request("find", { tensor: id, what: nan > 0 ? "nan" : "inf" }).catch(() => null) : null;
    page.why({ name, index: found?.index ?? index });
  };
  /** Start or end the comparison with another tensor. */
  const compare = async (id: number | null): Promise<void> => {
    const shown = tensor;
    menu.close();
    if (!shown) return;
    settle("loading");
    try {
      pair = id === null ? null : await page.request("pair", { first: shown.id, second: id });
      if (tensor !== shown) return;
      both?.dom.remove();
      both = pair && mountPair((index) => void goTo(shown, index));
      if (both) body.after(both.dom);
      title.textContent = pair ? `${pair.first.name} and ${pair.second.name}` : shown.name;
      partners.show(shown, page.view.tensors);
      refit();
    } catch (error) {
      problem.textContent = messageOf(error);
      settle("error");
    }
  };
  const refit = (): void => {
    if (!tensor) return;
    arrange(tensor);
    void refresh();
  };
  /** Report the view settings to the page. */
  const reportSettings = (): void => {
    const { rows, columns, indices } = axes.chosen();
    reportedSettings = tensor && { axes: { rows, columns }, index: indices, scale: bounds, mode: modes.mode() };
    page.change({ viewSettings: reportedSettings });
  };
  const rescale = (): void => {
    if (!drawn) return;
    const scaled = bounded(ownScale(drawn, schemeOf(page.view)), bounds);
    drawn = canvas.rescale(scaled) ?? repaint(drawn, scaled);
    layout.rescale(scaled);
    describePicture(drawn);
  };
  const setBounds = (next: Bounds | null): void => {
    bounds = next;
    if (!next) isHeld = false;
    rescale();
    reportSettings();
  };
  /** Lock the current scale for all tensors, or unlock it. */
  const setHeld = (next: boolean): void => {
    isHeld = next;
    if (isHeld && !bounds && drawn) {
      const { low, high, palette } = drawn.scale;
      bounds = low < high ? { low, high, diverging: palette === "diverging" } : null;
    } else if (!isHeld) bounds = null;
    setBounds(bounds);
  };
  const settle = (state: "loading" | "ready" | "error" | "empty"): void => {
    clearTimeout(waiting);
    wait.hidden = true;
    if (state === "loading") waiting = window.setTimeout(() => (wait.hidden = false), PATIENCE_MS);
    panel.dataset["view"] = state;
  };
  /** Request the data of the slice; responses for another tensor are dropped. */
  const refresh = async (): Promise<void> => {
    if (!tensor || tensor.problem) return;
    const mine = ++generation;
    const shown = tensor;
    const slice = sliceOf(shown);
    settle("loading");
    try {
      if (pair) return await refreshPair(pair, mine);
      const channels = isColoured() ? shown.channels : null;
      const how = channels === null ? (pooling.value as Pooling) : "mean";
      const map = await heatmaps.request({ ...slice, how, size: "full", channels });
      if (!map || tensor !== shown) return;
      draw(map, slice, shown);
      if (mine !== generation) return;
      if (isTable()) await table.show(slice, map.fullRows, map.fullColumns);
      if (isLayout() && drawn) await layout.show(shown, drawn.scale);
      if (mine === generation) settle("ready");
      if (mine === generation) reportSettings();
      if (mine === generation && shown.size > 0 && shown.max === undefined) await addStatistics(shown);
      if (mine === generation && map.how !== "each" && map.channels === 1 && map.rows > 0) await countSample(slice, mine);
    } catch (error) {
      // The old drawing would be mistaken for the requested one.
      if (mine === generation) fail(messageOf(error));
    }
  };
  /** Request the slices of two tensors and of their difference. */
  const refreshPair = async (now: Pair, mine: number): Promise<void> => {
    const slice = axes.chosen();
    const maps: Heatmap[] = [];
    for (const { id } of [now.first, now.second, now.difference]) {
      if (mine !== generation) return;
      const map = await heatmaps.request({ tensor: id, ...slice, how: "mean", size: "full", channels: null });
      if (map) maps.push(map);
    }
    if (mine !== generation || maps.length < 3) return;
    both?.show(now, maps, slice, schemeOf(page.view));
    const [first] = maps;
    note.textContent = note.title = first && first.how !== "each" ? `each cell is the mean of ${first.blockRows} × ${first.blockColumns} elements` : "each cell is one element · red is less, blue more";
    poolingLabel.hidden = true;
    settle("ready");
  };
  const draw = (map: Heatmap, slice: Slice, shown: TensorRecord): Picture => {
    problem.textContent = shown.size === 0 ? "This tensor has no elements." : "";
    poolingLabel.hidden = map.how === "each" || map.channels > 1;
    const own = decodeHeatmap(map, shown.dtype, schemeOf(page.view));
    const bound = bounded(own.scale, bounds);
    drawn = bound === own.scale ? own : repaint(own, bound);
    body.classList.toggle("without-picture", map.rows === 0);
    const drawing = drawingOf(shown);
    body.dataset["drawing"] = drawing;
    line = drawing === "curve" ? { picture: drawn, slice, tensor: shown } : null;
    if (drawing === "cells") canvas.show(drawn, slice, shown);
    else canvas.clear();
    if (drawing === "curve") curve.draw(curveOf(drawn, shown.name));
    number.textContent = drawing === "number" ? numberOf(drawn) : "";
    describePicture(drawn);
    if ((map.how === "each" || map.channels > 1) && map.rows > 0) scale.count(shownOf(drawn), 1);
    return drawn;
  };
  /** Describe the picture, and show its scale. */
  const describePicture = (picture: Picture): void => {
    const { rows } = picture.map;
    const words = line ? curveText(picture) : body.dataset["drawing"] === "number" ? "" : pictureText(picture);
    note.textContent = note.title = rows > 0 ? words : "";
    if (rows === 0) scale.clear();
    else scale.show(picture);
    scale.mark(bounds !== null, isHeld);
  };
  /** Pooled values have another distribution than the tensor's values. */
  const countSample = async (slice: Slice, mine: number): Promise<void> => {
    const sample = await samples.request(slice);
    if (sample && mine === generation) scale.count(unpack(sample.values, sample.encoding), sample.step);
  };
  /** Request and show the statistics of a tensor that has none yet. */
  const addStatistics = async (shown: TensorRecord): Promise<void> => {
    const values = await statistics.request({ tensor: shown.id });
    if (!values || tensor !== shown) return;
    Object.assign(shown, values);
    describe(shown);
  };
  const describe = (shown: TensorRecord): void => {
    flagged.replaceChildren(...flags(shown));
    const line = shown.problem ? null : originLine(page, shown);
    made.replaceChildren(...(line ? [line] : []));
    // Shown if any tensor of the run needs it, so that the layout is equal for all of them.
    made.classList.toggle("has-room", page.view.tensors.some(({ nan = 0, inf = 0 }) => nan + inf > 0));
    facts.replaceChildren(...factList(shown, (what) => void jump(shown, what)));
  };
  /** Go to the largest or smallest value, or to the first NaN. */
  const jump = async (shown: TensorRecord, what: Extreme): Promise<void> => {
    try {
      const { index } = await page.request("find", { tensor: shown.id, what });
      if (index) await goTo(shown, index);
    } catch (error) {
      problem.textContent = messageOf(error);
    }
  };
  const goTo = async (shown: TensorRecord, index: readonly number[]): Promise<void> => {
    if (tensor !== shown) return;
    axes.goTo(index);
    const { rows, columns } = axes.chosen();
    const [row, column] = [rows, columns].map((axis) => (axis === null ? 0 : (index[axis] ?? 0))) as [number, number];
    if (isTable() && !pair) table.expect(row, column);
    await refresh();
    if (pair) both?.goTo(row, column);
    else if (line) curve.goTo({ series: 0, index: Math.floor(column / line.picture.map.blockColumns) });
    else if (!isTable()) canvas.goTo(row, column);
  };
  /** Put the cursor of the picture on an element, in the slice that contains it. */
  const visit = async (shown: TensorRecord, index: number[]): Promise<void> => {
    const { rows, columns, indices } = axes.chosen();
    if (index.some((i, axis) => axis !== rows && axis !== columns && i !== indices[axis])) {
      axes.goTo(index);
      await refresh();
    }
    if (tensor !== shown || !drawn) return;
    const [row, column] = [rows, columns].map((axis) => (axis === null ? 0 : (index[axis] ?? 0))) as [number, number];
    canvas.pointAt({ row: Math.floor(row / drawn.map.blockRows), column: Math.floor(column / drawn.map.blockColumns) });
  };
  const fail = (text: string): void => {
    layout.clear();
    problem.textContent = text;
    drawn = null;
    canvas.clear();
    scale.clear();
    table.clear();
    note.textContent = "";
    settle("error");
  };
  return {
    show: async (next, look = null) => {
      tensor = next;
      live = null;
      pair = null;
      partners.show(next, page.view.tensors);
      choices.classList.remove("is-live");
      generation++;
      title.textContent = next.name;
      type.textContent = type.title = typeOf(next);
      describe(next);
      if (!isHeld) bounds = null;
      modes.offer(next);
      const isFit = look !== null && fits(look, next.shape, next.channels);
      if (isFit) modes.choose(look.mode);
      arrange(next);
      if (isFit) {
        axes.choose({ ...look.axes, indices: look.index });
        if (!isHeld) bounds = look.scale;
      }
      if (next.problem) fail(next.problem);
      else await refresh();
    },
    live: (next, picture) => {
      // An unchanged record keeps the viewport that the reader has zoomed to.
      const isSame = live?.displays[0] === next.displays[0] && live?.name === next.name;
      const shown = isSame && live ? live : next;
      if (!isSame && !isHeld) bounds = null;
      live = shown;
      if (!isSame) modes.offer(shown);
      tensor = null;
      generation++;
      choices.classList.add("is-live");
      title.textContent = shown.name;
      type.textContent = typeOf(shown);
      pair = null;
      stop.hidden = ask.hidden = true;
      modes.dom.hidden = false;
      body.hidden = false;
      both?.dom.remove();
      table.dom.hidden = layout.dom.hidden = true;
      body.classList.remove("with-layout");
      const { extent } = draw(picture.heatmap, liveSlice(picture), shown);
      flagged.replaceChildren();
      made.replaceChildren();
      facts.replaceChildren(...pictureFacts(extent, picture.step));
      settle("ready");
    },
    clear: () => {
      tensor = null;
      generation++;
      settle("empty");
    },
    reportedSettings: () => reportedSettings,
    recolour: () => {
      rescale();
      both?.recolour(schemeOf(page.view));
    },
  };
}
