"""How long chains of operations are, and where they are cut: all values at one place.

Compilers of shaders slow down with the length of a kernel. A chain that is cut value by
value would be stored at many places; so all that is alive where it is cut is stored
there, where little is alive.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass

from tensorweb.graph.kinds import Role, kinds_of
from tensorweb.graph.node import Node
from tensorweb.schedule.linear import LinearGraph

HEAVY = kinds_of(Role.CORE, Role.STORED)
"""Kinds that always need a kernel built around them."""

LONGEST_CHAIN = 48
"""Operations in a row before or behind a core, or that are seen through a movement.

A core's kernel holds many copies of them: on SwiftShader a reduction behind 128
operations took 15 s to compile, behind 64 a third of a second.
"""

_FREE = frozenset({"constant", "iota", "leaf"})


@dataclass(frozen=True, slots=True)
class Chains:
    """What was found out of one graph.

    Attributes:
        length: operations in a row that end with a node, since the last storage.
        stage: kernels with a core on the longest way to a node.
        stored: nodes with a chain too long for the kernel that reads them.
    """

    length: dict[Node, int]
    stage: dict[Node, int]
    stored: set[Node]


def chains(graph: LinearGraph, stored: Collection[Node]) -> Chains:
    """Return the chains of a graph of which some nodes are stored."""
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
    """Return the length of a chain, 0 where it is stored."""
    return 0 if source.base in found.stored else found.length[source]


def _keep_short(found: Chains, node: Node) -> None:
    """Store what is too long a chain to be read otherwise than in place."""
    for source in node.inputs:
        in_place = node.op.kind in ("map", "copy") and source.shape == node.shape
        if not in_place and _length(found, source) > LONGEST_CHAIN:
            found.stored.add(source.base)


def cut(graph: LinearGraph, found: Chains, longest: int) -> set[Node]:
    """Return the nodes to store so that no chain is longer than so many operations."""
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
    for place in range(1, top + 1):
        alive[place] += alive[place - 1]
    places, begin = [], 0  # the places increase
    while top - begin > longest:
        window = range(begin + longest // 2, begin + longest + 1)
        begin = min(reversed(window), key=alive.__getitem__)
        places.append(begin)
    places.append(top + 1)
    return {
        node
        for node in graph.nodes
        if node.op.kind != "movement"
        and length[node]
        and places[bisect_left(places, length[node])] < last[node]
    }
