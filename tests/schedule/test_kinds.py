"""Every table that is keyed by kind has exactly the kinds that it must have."""

from __future__ import annotations

import pytest

import tensorweb as tw
from tensorweb.backends.numpy_rules import RULES
from tensorweb.codegen.compiler import FAMILIES
from tensorweb.graph import attributes
from tensorweb.graph.kinds import KINDS, ROWS, Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.ops import OPS
from tensorweb.schedule.lowering import LOWERED
from tensorweb.schedule.plan import BUILDERS

KERNELS = kinds_of(Role.CORE, Role.STORED) | {"elementwise", "rows"}
"""Kinds of kernels: those built around one operation, and two that need none."""

TABLES: dict[str, tuple[object, frozenset[str]]] = {
    "numpy_rules.RULES": (RULES, frozenset(KINDS) - {"leaf", "movement"}),
    "lowering.LOWERED": (
        LOWERED,
        kinds_of(Role.INLINE, Role.CHOICE) | {"constant", "iota"},
    ),
    "plan.BUILDERS": (BUILDERS, KERNELS),
    "compiler.FAMILIES": (FAMILIES, KERNELS),
}
"""What is keyed by kind, and the kinds it must have."""


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_an_entry_for_each_of_its_kinds(name: str) -> None:
    table, kinds = TABLES[name]
    assert isinstance(table, dict)
    assert set(table) == kinds


def test_every_operation_has_a_kind_and_every_kind_an_operation() -> None:
    assert {op.kind for op in OPS.values()} == set(KINDS)


def test_kinds_are_told_apart_by_their_names() -> None:
    assert len(KINDS) == len(ROWS)


def test_every_class_of_attributes_belongs_to_a_kind() -> None:
    classes = {
        each
        for each in vars(attributes).values()
        if isinstance(each, type) and issubclass(each, tuple)
    }
    carried = {each for row in ROWS for each in row.attributes}
    assert classes == carried - {bool, int, float}


def graphs() -> list[tw.Tensor]:
    """Return uncomputed tensors whose graphs have every kind of node."""
    x = tw.arange(12.0).reshape(3, 4)
    rows = tw.asarray([2, 0])
    return [
        x.T[::2].reshape(6) + 1,
        tw.sliding_windows(x, 2, axis=1),
        tw.broadcast_to(x[0], (3, 4)),
        tw.pad(tw.concat([x, x]), 1),
        x.at[1:, 2:].set(0.0),
        x[rows],
        x.at[rows].set(1.0),
        x.at[rows].add(1.0),
        x.argmax(axis=1),
        (x @ x.T).sum(),
        tw.cumulative_sum(x, axis=0),
        tw.sort(x),
        tw.nonzero(x > 3)[0],
    ]


def nodes() -> set[Node]:
    """Return every node of those graphs."""
    found: set[Node] = set()
    waiting = [x.node for x in graphs()]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.inputs
    return found


@pytest.mark.usefixtures("webgpu")
def test_nodes_carry_the_attributes_of_their_kind() -> None:
    seen: set[str] = set()
    for node in nodes():
        row = KINDS[node.op.kind]
        seen.add(row.name)
        if row.attributes:
            assert isinstance(node.attrs, row.attributes)
        else:
            assert node.attrs is None
    assert seen == set(KINDS)
