/** Network access of the program: the current state, and the switch. */

import { el } from "./dom";
import type { Page } from "../page/page";
import type { Part } from "../page/view";

const CLOSED = "Programs reach this site only, nothing else on the network.";
const OPEN = "This program may reach any site, until you open another.";

export function mountNetwork(host: HTMLElement, page: Page): Part {
  const box = el("input", { type: "checkbox", role: "switch", id: "allow-network" });
  const label = el("label", {}, box, el("span", {}, el("span", { class: "long" }, "Allow "), "network"));
  const state = el("span", { class: "network-state", role: "status" });
  label.title = "Python starts again with or without access to other sites, for this program only";
  box.addEventListener("change", () => page.session.allowNetwork(box.checked));
  host.append(label, state);
  return {
    update: ({ network, state: doing }) => {
      box.checked = network;
      box.disabled = doing === "running";
      host.dataset["open"] = String(network);
      const text = network ? OPEN : CLOSED;
      if (state.textContent !== text) state.textContent = text;
    },
  };
}
