"""Number a graph's nodes and describe its structure, so that plans can be reused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tensorweb.graph import Node, number_of, structure_of

OUTPUTS = -1
"""Stands in a key before the numbers of the outputs."""


@dataclass(slots=True)
class LinearGraph:
    """Nodes in order of computation; computed storages come first where first read.

    Attributes:
        nodes: every node by number. Computed ones stand for their storage.
        numbers: number by node.
        key: what two graphs must share to share a plan: operations, attributes,
            shapes and dtypes, but not the values of constants nor which storages.
        outputs: numbers of the nodes asked for.
    """

    nodes: list[Node]
    numbers: dict[Node, int]
    key: Hashable
    outputs: tuple[int, ...]


def linearize(outputs: Sequence[Node]) -> LinearGraph:
    """Return the numbered graph that `outputs` need, in order of computation.

    The key is flat: each node's structure, then the numbers of its inputs.
    """
    numbers: dict[Node, int] = {}
    key: list[int] = []
    stack = list(reversed(outputs))
    while stack:
        node = stack[-1]
        if node in numbers:
            stack.pop()
            continue
        owner = node.owner
        if owner is not None and owner.storage is not None:
            stack.pop()
            _number_view(node, owner, numbers, key)
            continue
        waiting = len(stack)
        for source in node.inputs:
            if source not in numbers:
                if source.inputs:
                    stack.append(source)
                else:
                    key.append(source.structure or structure_of(source))
                    numbers[source] = len(numbers)
        if len(stack) > waiting:
            continue
        stack.pop()
        key.append(node.structure or structure_of(node))
        for source in node.inputs:
            key.append(numbers[source])
        numbers[node] = len(numbers)
    key.append(OUTPUTS)
    wanted = tuple([numbers[node] for node in outputs])
    key.extend(wanted)
    return LinearGraph(list(numbers), numbers, tuple(key), wanted)


def _number_view(
    node: Node, owner: Node, numbers: dict[Node, int], key: list[int]
) -> None:
    """Number a node that looks at a computed storage, and the storage before it."""
    if owner not in numbers:
        key.append(owner.structure or structure_of(owner))
        numbers[owner] = len(numbers)
    view = node.view
    key.append(number_of(view.shape, view.strides, view.offset))
    key.append(numbers[owner])
    numbers[node] = len(numbers)
