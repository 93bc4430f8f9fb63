"""Split kernels that would exceed the limits on bound storages or constants."""

from __future__ import annotations

from collections.abc import Container, Mapping

from tensorweb.graph.node import Node
from tensorweb.graph.op import CONSTANT
from tensorweb.schedule import policy


def inlined(
    root: Node, stored: Container[Node], numbers: Mapping[Node, int]
) -> list[Node]:
    """Return the nodes that a kernel computes inside itself, inputs first."""
    found = {root: None}
    waiting = [root]
    while waiting:
        for source in waiting.pop().inputs:
            base = source.base
            is_stored = base.storage is not None or base in stored
            if not is_stored and source not in found:
                found[source] = None
                waiting.append(source)
    return sorted(found, key=numbers.__getitem__)


def cuts(
    root: Node,
    stored: Container[Node],
    numbers: Mapping[Node, int],
    most: int,
    equal: Mapping[Node, Node],
) -> list[Node]:
    """Return the nodes to store so that every part of a kernel stays within the limits.

    Inputs are visited before their consumers. Where a node exceeds a limit, the input
    that binds most is stored and counts as one storage from there on.

    Args:
        root: the node that the kernel computes.
        stored: the nodes with kernels of their own.
        numbers: index of each node in order of computation.
        most: limit on the storages that a kernel reads.
        equal: constants by the equal constant that is passed instead.
    """
    found: list[Node] = []
    storages: dict[Node, frozenset[Node]] = {}
    scalars: dict[Node, frozenset[Node]] = {}
    none: frozenset[Node] = frozenset()

    for node in inlined(root, stored, numbers):
        for source in node.inputs:
            if source not in storages:
                storages[source], scalars[source] = frozenset({source.base}), none
        own = frozenset({equal.get(node, node)}) if node.op is CONSTANT else none
        while True:
            storages[node] = none.union(*(storages[s] for s in node.inputs))
            scalars[node] = own.union(*(scalars[s] for s in node.inputs))
            if len(storages[node]) > most:
                bound = storages
            elif len(scalars[node]) > policy.MOST_SCALARS:
                bound = scalars
            else:
                break
            widest = max(node.inputs, key=lambda s: len(bound[s]))
            if len(storages[widest]) + len(scalars[widest]) < 2:
                raise AssertionError(f"internal: {node!r} binds too much")
            found.append(widest)
            storages[widest], scalars[widest] = frozenset({widest.base}), none
    if not found:
        raise AssertionError("internal: no node to store")
    return found
