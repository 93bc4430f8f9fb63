/** The networks of the run as trees: modules with their parameters and their last results. */

import { button, el } from "../../parts/dom";
import { bytes, count, duration, tuple } from "../../parts/format";
import type { Page } from "../../page/page";
import type { ModuleRecord, TensorRecord } from "../../page/protocol";
import { originNote } from "../../page/run-origin";
import { messageOf } from "../../page/session";
import type { Part, RunOrigin, View } from "../../page/view";
import { rangeOf } from "../tensors/facts";
import { mountLitPicture } from "../why/lit-picture";
import "./model.css";

const INVITATION = "A network that has a name, such as model = nn.Sequential(…), is shown here as a tree: each module with its parameters and what it returned last. Run a program with one first, for example “A GPT that writes”.";
const ASK = "Press “Look inside”: the program runs once more, and its networks are shown as trees.";
const NONE = "No name of the program refers to a network. Assign one, for example model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), call it, and press Run.";

export function mountModel(host: HTMLElement, page: Page): Part {
  const text = el("p", { class: "empty" }, INVITATION);
  const look = button("Look inside", () => void begin(), { class: "quiet", title: "Run the program once more, and retain what every module returns and how long it takes" });
  const offer = el("p", {}, look);
  const list = el("ol", { class: "model-list" });
  host.append(text, offer, list);
  /** The run that the list belongs to. */
  let drawn: RunOrigin | null = null;

  const begin = (): void => {
    page.run(null, { inside: true, timed: true });
  };
  const show = async (origin: RunOrigin): Promise<void> => {
    drawn = origin;
    try {
      const modules = await page.request("modules", {});
      if (drawn !== origin) return;
      list.replaceChildren(...modules.map((one) => rowOf(one, modules[0])));
      text.textContent = modules.length > 0 ? "" : NONE;
    } catch (error) {
      text.textContent = messageOf(error);
    }
  };
  const rowOf = (module: ModuleRecord, first: ModuleRecord | undefined): HTMLElement => {
    const { name, kind, settings, parameters, buffers, depth, output, tensors } = module;
    const share = el("span", { class: "model-share", "aria-hidden": "true" }, el("span", {}));
    (share.firstElementChild as HTMLElement).style.width = `${(100 * parameters) / (first?.parameters || 1)}%`;
    const summary = el(
      "summary",
      {},
      el("strong", {}, name),
      el("code", {}, settings ? `${kind}(${settings})` : kind),
      el("span", { class: "model-shape" }, output ? `→ ${tuple(output.shape)}` : ""),
      el("span", { class: "model-count" }, share, [count(parameters, "parameter"), buffers > 0 && `${buffers.toLocaleString("en-US")} in buffers`, timeOf(module)].filter(Boolean).join(" · ")),
    );
    const details = el("details", { class: "model-module" }, summary);
    const node = el("li", {}, details);
    node.style.setProperty("--depth", String(depth));
    const open = (): void => {
      if (!details.open || details.childElementCount > 1) return;
      const called = module.calls > 0 ? `called ${count(module.calls, "time")}` : "not called";
      const values = [...tensors, ...(output ? [output] : [])].map(valueOf);
      details.append(el("p", { class: "model-facts" }, [module.path, bytes(module.bytes), called, timeWords(module)].filter(Boolean).join(" · ")), el("div", { class: "model-values" }, ...values));
    };
    details.addEventListener("toggle", open);
    return node;
  };
  /** A tensor as a picture, whose cells can be asked for their causes. */
  const valueOf = (tensor: TensorRecord): HTMLElement => {
    const head = el("h3", {}, el("code", {}, tensor.name), ` ${tuple(tensor.shape)}: ${rangeOf(tensor)}`);
    const first = tensor.shape.map(() => 0);
    const picture = mountLitPicture(page, tensor, first, null, (index) => page.why({ id: tensor.id, name: tensor.name, index }));
    return el("section", { class: "model-value" }, head, picture);
  };
  return {
    update: ({ run, phase, origins, state, held }: View) => {
      look.disabled = state === "running" || held;
      const isNew = origins.tensors !== drawn;
      if (isNew && !run?.inside) {
        drawn = null;
        list.replaceChildren();
        text.textContent = run ? ASK : INVITATION;
      }
      const isTimed = run?.kernels.some(({ seconds }) => seconds !== undefined) ?? false;
      look.textContent = run?.inside ? "Measure times" : "Look inside";
      offer.hidden = !run || (run.inside === true && (isTimed || run.kernels.length === 0));
      if (isNew && run?.inside && phase === "idle" && origins.tensors) void show(origins.tensors);
    },
    originNote: (view) => (list.childElementCount > 0 ? originNote(view, "tensors") : null),
  };
}

/** The time of a module's kernels; about as long where they compute for others as well. */
function timeOf({ seconds, shared }: ModuleRecord): string {
  return seconds === null ? "" : `${shared ? "≈ " : ""}${duration(seconds)}`;
}

function timeWords(module: ModuleRecord): string {
  if (module.seconds === null) return "";
  const note = module.shared ? " (kernels that compute for others too count by the bytes of their values)" : "";
  return `${timeOf(module)} on the device${note}`;
}
