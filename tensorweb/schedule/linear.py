"""Number a graph's nodes and describe its structure, so that plans can be reused."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tensorweb.graph import CONSTANT, Node


@dataclass(slots=True)
class LinearGraph:
    """Nodes in order of computation; computed storages come first where first read.

    Attributes:
        nodes: every node by number. Computed ones stand for their storage.
        numbers: number by `id(node)`.
        key: what two graphs must share to share a plan: operations, attributes,
            shapes and dtypes, but not the values of constants nor which storages.
        outputs: numbers of the nodes asked for.
    """

    nodes: list[Node]
    numbers: dict[int, int]
    key: Hashable
    outputs: tuple[int, ...]


def linearize(outputs: Sequence[Node]) -> LinearGraph:
    """Return the numbered graph that `outputs` need, in order of computation."""
    nodes: list[Node] = []
    numbers: dict[int, int] = {}
    parts: list[Hashable] = []
    stack = list(reversed(outputs))
    while stack:
        node = stack[-1]
        key = id(node)
        if key in numbers:
            stack.pop()
            continue
        owner = node.owner
        base = node if owner is None else owner
        if base.storage is not None:
            stack.pop()
            number = numbers.get(id(base))
            if number is None:
                number = numbers[id(base)] = len(nodes)
                nodes.append(base)
                parts.append((base.dtype.name, base.size))
            if node is not base:
                view = node.view
                numbers[key] = len(nodes)
                nodes.append(node)
                parts.append((number, view.shape, view.strides, view.offset))
            continue
        inputs = node.inputs
        is_ready = True
        for source in inputs:
            if id(source) not in numbers:
                stack.append(source)
                is_ready = False
        if not is_ready:
            continue
        stack.pop()
        numbers[key] = len(nodes)
        nodes.append(node)
        op = node.op
        sources = tuple([numbers[id(source)] for source in inputs])
        attrs = None if op is CONSTANT else node.attrs
        parts.append((op.name, attrs, node.shape, node.dtype.name, sources))
    wanted = tuple(numbers[id(node)] for node in outputs)
    return LinearGraph(nodes, numbers, (tuple(parts), wanted), wanted)
