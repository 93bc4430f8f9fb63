"""The first operation that another device computes differently."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import tolerances

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.graph.provenance import Provenance
from tensorweb.inspection import differences
from tensorweb.inspection.differences import Comparison, compare_devices
from tensorweb.waits import run_blocking


def program() -> tuple[Provenance, tw.Tensor]:
    with Provenance().open() as provenance:
        x = tw.linspace(-3.0, 3.0, 1000).reshape(20, 50)
        product = tw.exp(x) @ x.T
        scaled = tw.nn.softmax(tw.sort(product, axis=1) / 7, axis=1)
        found = scaled.cumsum(0)[:, tw.argmax(x, axis=0)] + product.sum()
        found.tolist()
    return provenance, found


def compared(provenance: Provenance, x: tw.Tensor, device: str) -> Comparison:
    with provenance.retaining():
        return run_blocking(compare_devices(provenance, [x.node], device))


def test_the_bounds_are_those_of_the_tests() -> None:
    bounds = differences.SUMS | differences.PRODUCTS
    assert bounds == {name: tolerances.REDUCE[name] for name in bounds}
    assert differences.CANCELLING == tolerances.OF_OPERANDS


@pytest.mark.usefixtures("webgpu")
def test_devices_agree_within_their_bounds() -> None:
    provenance, x = program()
    found = compared(provenance, x, "cpu")
    assert found.first is None
    assert found.compared >= 8
    assert found.left_out == 0


@pytest.mark.usefixtures("webgpu")
def test_the_first_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = differences.computed_again

    def faulty(node: Node, inputs: Sequence[Node], device: str) -> Node:
        found = plain(node, inputs, device)
        if node.op.name not in ("exp", "divide"):
            return found
        x = tw.Tensor(found)
        return x.at[1, 2].set(x[1, 2] * (1 + 2.0**-16)).node

    monkeypatch.setattr(differences, "computed_again", faulty)
    provenance, x = program()
    first = compared(provenance, x, "cpu").first
    assert first is not None
    assert (first.node.op.name, first.index) == ("exp", (1, 2))
    assert first.value != first.other
