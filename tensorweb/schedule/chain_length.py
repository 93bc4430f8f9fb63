"""Measure chains of operations and cut long ones at points where few values are live.

Shader compilers slow down with the length of a kernel. All values that are live at a
cut are stored, so chains are cut where few values are live.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass

from tensorweb.graph.node import Node
from tensorweb.graph.op import Role, kinds_of
from tensorweb.schedule import policy
from tensorweb.schedule.linear import LinearGraph

HEAVY = kinds_of(Role.CORE, Role.STORED)
"""Kinds that always need a kernel built around them."""

_FREE = frozenset({"constant", "iota", "leaf"})


@dataclass(frozen=True, slots=True)
class Chains:
    """Chain lengths of one graph.

    Attributes:
        length: operations of the longest chain from a storage to each node.
        stage: kernels with a core on the longest path to each node.
        stored: nodes whose chain is too long for the kernel that reads them.
    """

    length: dict[Node, int]
    stage: dict[Node, int]
    stored: set[Node]


def chains(graph: LinearGraph, stored: Collection[Node]) -> Chains:
    """Return the chain lengths of a graph, given its stored nodes."""
    found = Chains({}, {}, set())
    for node in graph.nodes:
        if node.storage is not None or node.base.storage is not None:
            found.length[node] = found.stage[node] = 0
            continue
        kind = node.op.kind
        stages = [found.stage[source] for source in node.inputs]
        found.stage[node] = max(stages, default=0) + (kind in HEAVY)
        _keep_short(found, node)
        starts = kind in HEAVY or kind in _FREE or node in stored
        before = 0 if starts else max(_length(found, s) for s in node.inputs)
        found.length[node] = before + (not starts and kind != "movement")
    return found


def _length(found: Chains, source: Node) -> int:
    """Return the length of the chain ending with a node, 0 if its base is stored."""
    return 0 if source.base in found.stored else found.length[source]


def _keep_short(found: Chains, node: Node) -> None:
    """Store inputs of too long a chain unless they are read at the same index."""
    for source in node.inputs:
        in_place = node.op.kind in ("map", "copy") and source.shape == node.shape
        if not in_place and _length(found, source) > policy.LONGEST_CHAIN:
            found.stored.add(source.base)


def cut(graph: LinearGraph, found: Chains, longest: int) -> set[Node]:
    """Return the nodes to store so that no chain exceeds `longest` operations."""
    length = found.length
    top = max((_length(found, node) for node in graph.nodes), default=0)
    if top <= longest:
        return set()
    last = dict.fromkeys(graph.nodes, 0)
    for node in reversed(graph.nodes):
        reach = last[node] if node.op.kind == "movement" else length[node]
        for source in node.inputs:
            if source in last and length[node]:
                last[source] = max(last[source], reach)
    alive = [0] * (top + 2)
    for node in graph.nodes:
        if node.op.kind != "movement" and 0 < length[node] < last[node]:
            alive[length[node]] += 1
            alive[last[node]] -= 1
    for step in range(1, top + 1):
        alive[step] += alive[step - 1]
    boundaries, begin = [], 0  # the boundaries increase
    while top - begin > longest:
        window = range(begin + longest // 2, begin + longest + 1)
        begin = min(reversed(window), key=alive.__getitem__)
        boundaries.append(begin)
    boundaries.append(top + 1)
    return {
        node
        for node in graph.nodes
        if node.op.kind != "movement"
        and length[node]
        and boundaries[bisect_left(boundaries, length[node])] < last[node]
    }
