"""What computing one element of a value costs, in multiply-adds, loads included."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.graph.kinds import KINDS, LOAD_COST, Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.schedule.chain_length import HEAVY
from tensorweb.schedule.linear import LinearGraph

CHOICES = kinds_of(Role.CHOICE)
"""Kinds that read their inputs at shifted positions."""

RECOMPUTE_LIMIT = 32
"""Multiply-adds an element above which a value used by several kernels is stored."""

MOST_COST = 1 << 20
"""What no cost needs to be told apart above, so that they stay small numbers."""


def costs(
    graph: LinearGraph, stored: set[Node], is_tail: Callable[[Node], bool]
) -> dict[Node, int]:
    """Return what each node of a graph costs, and add to what is stored.

    A value that one kernel would compute several times, seen through different
    movements, is stored once it costs too much; else each generation of a stencil would
    double the work.

    Args:
        graph: the numbered graph.
        stored: the nodes that get kernels of their own.
        is_tail: whether a value is stored if several kernels read it.
    """
    cost: dict[Node, int] = {}
    scattered = _read_at_several_places(graph)
    for node in graph.nodes:
        kind = node.op.kind
        is_read = node.base.storage is not None or node in stored
        if is_read or kind in HEAVY:
            cost[node] = LOAD_COST
        elif kind in ("constant", "iota"):
            cost[node] = 0
        else:
            own = node.op.weight if kind == "map" else KINDS[kind].cost
            total = own + sum(cost[each] for each in set(node.inputs))
            if total > RECOMPUTE_LIMIT and node in scattered:
                stored.add(node)
                total = LOAD_COST
            if kind == "map" and is_tail(node):
                total = LOAD_COST
            cost[node] = min(total, MOST_COST)
    return cost


def _read_at_several_places(graph: LinearGraph) -> set[Node]:
    """Return nodes with several readers, one of them a movement."""
    readers: dict[Node, int] = {}
    moved: set[Node] = set()
    for node in graph.nodes:
        moves = node.op.kind in ("movement", *CHOICES)
        for source in node.inputs:
            if source.op.kind == "map" or source.op.kind in CHOICES:
                readers[source] = readers.get(source, 0) + 1
                if moves:
                    moved.add(source)
    return {node for node in moved if readers[node] > 1}
