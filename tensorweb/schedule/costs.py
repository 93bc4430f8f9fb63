"""Cost model: multiply-adds to compute one element of a value, loads included."""

from __future__ import annotations

from collections.abc import Callable

from tensorweb.graph.kinds import KINDS, LOAD_COST, Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.schedule import policy
from tensorweb.schedule.chain_length import HEAVY
from tensorweb.schedule.linear import LinearGraph

CHOICES = kinds_of(Role.CHOICE)
"""Kinds that read their inputs at shifted indices."""


def costs(
    graph: LinearGraph, stored: set[Node], is_tail: Callable[[Node], bool]
) -> dict[Node, int]:
    """Return the cost of each node, and add expensive shared nodes to `stored`.

    A value that one kernel would compute several times through different movements is
    stored if it costs more than RECOMPUTE_LIMIT; otherwise each generation of a stencil
    would double the work.

    Args:
        graph: the linear graph.
        stored: the nodes that get kernels of their own; extended in place.
        is_tail: whether a value ends a core's kernel and has several readers.
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
            if total > policy.RECOMPUTE_LIMIT and node in scattered:
                stored.add(node)
                total = LOAD_COST
            if kind == "map" and is_tail(node):
                total = LOAD_COST
            cost[node] = total
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
