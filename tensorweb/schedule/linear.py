"""Linearize a graph and compute the key of its structure, by which plans are cached."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tensorweb.dtypes import DType
from tensorweb.graph.node import Node, number_of_constant, structure_id, structure_of
from tensorweb.graph.op import CONSTANT
from tensorweb.schedule import policy

OUTPUTS = 0
"""Separates the structure from the output indices in a key."""


@dataclass(slots=True)
class LinearGraph:
    """Nodes in order of computation; a computed node precedes its first reader.

    Attributes:
        nodes: every node by index. A computed node stands for its storage.
        numbers: index by node.
        key: the structure: operations, attributes, shapes and dtypes, without values
            of constants or identity of storages. Graphs of equal keys share a plan.
        outputs: indices of the nodes to compute.
    """

    nodes: list[Node]
    numbers: dict[Node, int]
    key: tuple[Hashable, ...]
    outputs: tuple[int, ...]

    def extended(self, numbers: Sequence[int]) -> LinearGraph:
        """Return this graph with further outputs."""
        more = tuple(numbers)
        key, outputs = self.key + more, self.outputs + more
        return LinearGraph(self.nodes, self.numbers, key, outputs)


def linearize(outputs: Sequence[Node]) -> LinearGraph:
    """Return the linear graph of the ancestors of `outputs`, in order of computation.

    The key is flat. A positive word is the structure of the node with the next index.
    The inputs of an operation come right before it; an input with an earlier index is
    the complement of that index.
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
    output_indices = tuple([numbers[node] for node in outputs])
    key.extend(output_indices)
    return LinearGraph(list(numbers), numbers, tuple(key), output_indices)


def equal_constants(graph: LinearGraph) -> dict[Node, Node]:
    """Map each repeated constant to the first constant of equal dtype and value.

    Empty for a graph of so few constants that one kernel can bind all. A plan made with
    this map holds only for graphs in which the same constants are equal (`is_equal`).
    """
    constants = [node for node in graph.nodes if node.op is CONSTANT]
    if len(constants) < policy.MOST_SCALARS:
        return {}
    first: dict[tuple[DType, str], Node] = {}
    found = {node: first.setdefault(_number(node), node) for node in constants}
    return {node: one for node, one in found.items() if one is not node}


def is_equal(graph: LinearGraph, pairs: Iterable[tuple[int, int]]) -> bool:
    """Whether the constants of each pair of indices are equal."""
    nodes = graph.nodes
    return all(_number(nodes[a]) == _number(nodes[b]) for a, b in pairs)


def _number(node: Node) -> tuple[DType, str]:
    """Return the key of a constant's value; it distinguishes -0.0 and equates NaNs."""
    return node.dtype, repr(number_of_constant(node))


def pieces(graph: LinearGraph, most: int) -> Iterator[list[Node]]:
    """Split a large graph: yield the nodes to compute for each piece of `most` nodes.

    These are the outputs and the nodes that later pieces read. The graph is emptied on
    the way, so that it retains no values that are not read any more.
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
    """Add a view of a computed storage after the storage; return the next index."""
    if owner not in numbers:
        key.append(owner.structure or structure_of(owner))
        numbers[owner] = len(numbers)
    view = node.view
    key.append(structure_id(view.shape, view.strides, view.offset))
    key.append(~numbers[owner])
    numbers[node] = len(numbers)
    return len(numbers)
