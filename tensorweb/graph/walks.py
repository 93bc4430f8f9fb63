"""Traversal of the graph without recursion."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.graph.node import Node


def ancestors(outputs: Sequence[Node]) -> list[Node]:
    """Return the uncomputed nodes that outputs depend on and the computed inputs.

    The order is topological: inputs come before their consumers.
    """
    order: dict[Node, None] = {}
    stack: list[Node] = []
    for node in outputs:
        while True:
            waits_for = None
            if node not in order and (node.owner or node).storage is None:
                for source in node.inputs:
                    if source in order:
                        continue
                    if source.storage is None and source.inputs:
                        waits_for = source
                        break
                    order[source] = None
            if waits_for is not None:
                stack.append(node)
                node = waits_for
                continue
            order[node] = None
            if not stack:
                break
            node = stack.pop()
    return list(order)
