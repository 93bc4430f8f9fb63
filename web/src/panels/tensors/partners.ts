/** Offers the tensors with which another one can be compared. */

import { el } from "../../parts/dom";
import type { TensorRecord } from "../../page/protocol";

export interface Partners {
  dom: HTMLElement;
  /** Offer the partners of a tensor. */
  show(tensor: TensorRecord, all: readonly TensorRecord[]): void;
}

export function mountPartners(choose: (id: number | null) => void): Partners {
  const select = el("select", { class: "partners" });
  const dom = el("label", { class: "more-field" }, "Compare with", select);
  select.addEventListener("change", () => choose(select.value === "" ? null : Number(select.value)));
  return {
    dom,
    show: (tensor, all) => {
      const partners = all.filter((other) => isPartner(tensor, other));
      select.replaceChildren(
        el("option", { value: "" }, partners.length ? "nothing" : "no other of this shape"),
        ...partners.map(({ id, name }) => el("option", { value: id }, name)),
      );
      select.disabled = partners.length === 0;
    },
  };
}

/** Whether two tensors on one device have a common shape. */
function isPartner(tensor: TensorRecord, other: TensorRecord): boolean {
  if (other.id === tensor.id || other.device !== tensor.device || other.problem || tensor.size * other.size === 0) return false;
  const [a, b] = [tensor.shape.toReversed(), other.shape.toReversed()];
  return a.every((length, axis) => length === (b[axis] ?? length) || length === 1 || b[axis] === 1);
}
