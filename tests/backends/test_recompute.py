"""A read visits each further value once."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.backends import liveness
from tensorweb.graph.node import Node


@pytest.mark.usefixtures("webgpu")
def test_a_read_visits_values_of_a_recording_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left: list[tw.Tensor] = []

    @tw.jit
    def steps(x: tw.Tensor) -> tw.Tensor:
        for _ in range(40):
            x = tw.sin(x) * 0.5
            left.append(x)
        return x

    looked_at: list[Node] = []
    walk = liveness._new_ancestors

    def counted(node: Node, known: set[Node], recorded: set[Node]) -> list[Node]:
        looked_at.append(node)
        return walk(node, known, recorded)

    monkeypatch.setattr(liveness, "_new_ancestors", counted)
    x = tw.ones(3)
    assert steps(x).shape == (3,)
    (x + 1).tolist()
    assert len(left) == 40
    assert len(looked_at) == 1
