"""Every table that is keyed by kind has exactly the kinds that it must have."""

from __future__ import annotations

from typing import Any

import pytest
from operation_cases import rows
from structure_cases import REDUCTIONS, STRUCTURES

import tensorweb as tw
from e2e.bare.op_runner import evaluate
from tensorweb.backends.numpy_rules import RULES
from tensorweb.codegen.compiler import GENERATORS
from tensorweb.graph import attributes
from tensorweb.graph.node import Node
from tensorweb.graph.op import COMPLEX, ENTRIES, KINDS, Role, kinds_of
from tensorweb.ops import OPS
from tensorweb.schedule.kernel_builder import BUILDERS
from tensorweb.schedule.lowering import LOWERED

KERNELS = kinds_of(Role.CORE, Role.STORED) | {"elementwise", "rows"}
"""Kinds of kernels: those built around one operation, and two that need none."""

IN_ROWS = frozenset(op.kind for op in OPS.values() if callable(op.numpy)) - {"map"}
"""Kinds whose operations say in their rows how NumPy computes them."""

TABLES: dict[str, tuple[object, frozenset[str]]] = {
    "numpy_rules.RULES": (
        RULES,
        frozenset(KINDS) - {"leaf", "movement"} - IN_ROWS,
    ),
    "lowering.LOWERED": (
        LOWERED,
        kinds_of(Role.INLINE, Role.CHOICE) | {"constant", "iota"},
    ),
    "plan.BUILDERS": (BUILDERS, KERNELS),
    "compiler.GENERATORS": (GENERATORS, KERNELS),
}
"""What is keyed by kind, and the kinds it must have."""


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_an_entry_for_each_of_its_kinds(name: str) -> None:
    table, kinds = TABLES[name]
    assert isinstance(table, dict)
    assert set(table) == kinds


def test_every_operation_has_a_kind_and_every_kind_an_operation() -> None:
    assert {op.kind for op in OPS.values()} == set(KINDS)


def test_kinds_are_distinguished_by_name() -> None:
    assert len(KINDS) == len(ENTRIES)


def test_every_class_of_attributes_belongs_to_a_kind() -> None:
    classes = {
        each
        for each in vars(attributes).values()
        if isinstance(each, type) and issubclass(each, tuple)
    }
    carried = {each for kind in ENTRIES for each in kind.attributes}
    parts = {attributes.Argument}  # of a kernel that a program brings
    assert classes - parts == carried - {bool, int, float}


def test_nodes_carry_the_attributes_of_their_kind(
    cpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Node] = []
    build = Node.__init__

    def note(node: Node, *values: Any) -> None:
        build(node, *values)
        built.append(node)

    monkeypatch.setattr(Node, "__init__", note)
    for case in [*rows(REDUCTIONS), *rows(STRUCTURES)]:
        inputs = {name: tw.asarray(x) for name, x in case.inputs.items()}
        evaluate(case.code, tw, inputs)
    # A program's own kernel needs WGSL; tests/transforms/test_kernel.py has its nodes.
    assert {node.op.kind for node in built} == set(KINDS) - {"custom"}
    for node in built:
        carried = KINDS[node.op.kind].attributes
        if carried and node.op is not COMPLEX:  # which says no more
            assert isinstance(node.attrs, carried)
        else:
            assert node.attrs is None
