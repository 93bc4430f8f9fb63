"""Number a graph's nodes and describe its structure, so that plans can be reused."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tensorweb.dtypes import DType
from tensorweb.graph.node import Node, number_of_constant, structure_of
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.structure import number_of

OUTPUTS = 0
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
    key: tuple[Hashable, ...]
    outputs: tuple[int, ...]

    def extended(self, numbers: Sequence[int]) -> LinearGraph:
        """Return the same graph with more nodes of it as outputs."""
        more = tuple(numbers)
        key, outputs = self.key + more, self.outputs + more
        return LinearGraph(self.nodes, self.numbers, key, outputs)


def linearize(outputs: Sequence[Node]) -> LinearGraph:
    """Return the numbered graph that `outputs` need, in order of computation.

    The key is flat. A positive word is the structure of the node with the next number;
    the inputs of an operation stand right before it, those numbered earlier as the
    complement of their number. A node that had to wait for an input is visited again;
    operations have few inputs.
    """
    numbers: dict[Node, int] = {}
    key: list[int] = []
    stack: list[Node] = []
    count = 0
    for node in outputs:
        while True:
            if node not in numbers:
                owner = node.owner
                if owner is not None and owner.storage is not None:
                    count = _number_view(node, owner, numbers, key)
                else:
                    waits_for = None
                    for source in node.inputs:
                        if source in numbers:
                            key.append(~numbers[source])
                        elif source.storage is None and source.inputs:
                            waits_for = source
                            break
                        else:
                            key.append(source.structure or structure_of(source))
                            numbers[source] = count
                            count += 1
                    if waits_for is not None:
                        stack.append(node)
                        node = waits_for
                        continue
                    key.append(node.structure or structure_of(node))
                    numbers[node] = count
                    count += 1
            if not stack:
                break
            node = stack.pop()
    key.append(OUTPUTS)
    wanted = tuple([numbers[node] for node in outputs])
    key.extend(wanted)
    return LinearGraph(list(numbers), numbers, tuple(key), wanted)


def equal_constants(graph: LinearGraph, least: int) -> dict[Node, Node]:
    """Return constants by the first one of the same dtype and number before them.

    None in a graph of fewer than `least` constants. What is made with them holds for
    graphs of the same structure where these are equal as well: `is_equal` says so.
    """
    constants = [node for node in graph.nodes if node.op is CONSTANT]
    if len(constants) < least:
        return {}
    first: dict[tuple[DType, str], Node] = {}
    found = {node: first.setdefault(_number(node), node) for node in constants}
    return {node: one for node, one in found.items() if one is not node}


def is_equal(graph: LinearGraph, pairs: Iterable[tuple[int, int]]) -> bool:
    """Whether constants, by number, are equal in pairs."""
    nodes = graph.nodes
    return all(_number(nodes[a]) == _number(nodes[b]) for a, b in pairs)


def _number(node: Node) -> tuple[DType, str]:
    """Return what is equal of equal constants, zeros with their sign and NaN too."""
    return node.dtype, repr(number_of_constant(node))


def pieces(graph: LinearGraph, most: int) -> Iterator[list[Node]]:
    """Return what to compute, one piece after another, so that none is too large.

    Each piece is `most` nodes of the graph: what later ones read of them must be
    computed. The graph is emptied, so that nothing keeps what nobody reads any more.
    """
    nodes, numbers = graph.nodes, graph.numbers
    last_reader = dict.fromkeys(graph.outputs, len(nodes) + most)
    for number, node in enumerate(nodes):
        for source in node.inputs:
            if source in numbers:
                read = numbers[source]
                last_reader[read] = max(number, last_reader.get(read, 0))
    numbers.clear()
    begin = 0
    while nodes:
        end = begin + most
        piece = enumerate(nodes[:most], begin)
        bases = {node.base: None for at, node in piece if last_reader.get(at, 0) >= end}
        del nodes[:most]
        begin = end
        yield [base for base in bases if base.op.kind not in ("constant", "iota")]


def _number_view(
    node: Node, owner: Node, numbers: dict[Node, int], key: list[int]
) -> int:
    """Number a node that looks at a computed storage, and the storage before it.

    Returns the next number.
    """
    if owner not in numbers:
        key.append(owner.structure or structure_of(owner))
        numbers[owner] = len(numbers)
    view = node.view
    key.append(number_of(view.shape, view.strides, view.offset))
    key.append(~numbers[owner])
    numbers[node] = len(numbers)
    return len(numbers)
