"""Liveness: which results are needed after their flush.

Tensors, pending graphs and autograd histories refer to nodes. A flush compares the
reference count of each node with the number of its own references; a node with more is
needed afterwards. If a result is freed by mistake, its node retains its inputs and is
recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from sys import getrefcount

from tensorweb.graph.history import is_keeping, keeps_inputs
from tensorweb.graph.node import Node
from tensorweb.schedule.linear import LinearGraph

LEAST_KEPT = 256
"""Most cached sets of referenced nodes per plan."""

Chosen = Callable[[Sequence[object]], Sequence[object]]


def _counts(chosen: Chosen, nodes: Sequence[object]) -> list[int]:
    return list(map(getrefcount, chosen(nodes)))


def _chooser(numbers: Sequence[int]) -> Chosen:
    """Return a function that selects items; `itemgetter` returns tuples from two on."""
    if len(numbers) > 1:
        return itemgetter(*numbers)
    return lambda nodes: [nodes[number] for number in numbers]


def _own_references() -> int:
    """Return the reference count of a node that only a linear graph refers to."""
    nodes = [object(), object()]
    numbers = {node: number for number, node in enumerate(nodes)}
    return _counts(itemgetter(0, 1), nodes)[0] if numbers else 0


OWN_REFERENCES = _own_references()


def _watched(graph: LinearGraph) -> tuple[list[int], list[int]]:
    """Return the pending nodes except outputs, and the graph's references to each."""
    outputs = set(graph.outputs)
    watched = [
        number
        for number, node in enumerate(graph.nodes)
        if node.storage is None and number not in outputs
    ]
    counts = [OWN_REFERENCES] * len(graph.nodes)
    seen: set[int] = set()
    for node in graph.nodes:
        sources = node.inputs
        if id(sources) in seen:
            sources = ()
        seen.add(id(node.inputs))
        for source in (*sources, node.owner):
            number = None if source is None else graph.numbers.get(source)
            if number is not None:
                counts[number] += 1
    return watched, [counts[number] for number in watched]


def held(graph: LinearGraph) -> list[int]:
    """Return the indices of pending nodes referenced outside of their graph.

    Outputs are omitted.
    """
    watched, expected = _watched(graph)
    counts = _counts(_chooser(watched), graph.nodes) if watched else []
    triples = zip(watched, counts, expected, strict=True)
    return [number for number, count, own in triples if count > own]


class Lifetimes:
    """Liveness analysis of the graphs of one structure, cached."""

    def __init__(self, graph: LinearGraph, results: Collection[int]) -> None:
        """Count the references of a graph with these results, outputs among them."""
        self._results = frozenset(results)
        self._inner = self._results - set(graph.outputs)
        self._watched, self._expected = _watched(graph)
        self._chosen = _chooser(self._watched)
        self._known: dict[tuple[int, ...], frozenset[int]] = {}

    def survivors(self, graph: LinearGraph) -> frozenset[int]:
        """Return the indices of the non-output results that are needed after a flush.

        A live node without a storage needs its inputs, and so does a node whose
        inputs a backward pass may read.
        """
        if not self._inner:
            return self._inner
        held = self._held(graph)
        if is_followed(graph):
            return self._reached(graph, held)
        found = self._known.get(held)
        if found is None:
            if len(self._known) >= LEAST_KEPT:
                self._known.clear()
            found = self._known[held] = self._reached(graph, held)
        return found

    def computed_again(
        self, graph: LinearGraph, inlined: Sequence[int]
    ) -> Sequence[int]:
        """Return which inlined values to store if another flush needs them.

        Values that only a backward pass needs are omitted: it needs them once, and
        recomputing them inside its kernels is as quick as loading them.
        """
        if not inlined or not is_followed(graph):
            return inlined
        held = set(self._held(graph))
        return [number for number in inlined if number in held]

    def _held(self, graph: LinearGraph) -> tuple[int, ...]:
        """Return the indices of non-output nodes referenced outside of the graph."""
        counts = _counts(self._chosen, graph.nodes)
        if counts == self._expected:
            return ()
        pairs = zip(self._watched, counts, self._expected, strict=True)
        return tuple([number for number, count, own in pairs if count > own])

    def _reached(self, graph: LinearGraph, held: Collection[int]) -> frozenset[int]:
        """Return the inner results that live nodes depend on."""
        nodes, numbers = graph.nodes, graph.numbers
        alive = {*graph.outputs, *held}
        for number in range(len(nodes) - 1, -1, -1):
            node = nodes[number]
            if number not in alive or node.storage is not None:
                continue
            if number not in self._results or keeps_inputs(node):
                alive.update(
                    numbers[each] for each in _sources(node) if each in numbers
                )
        return frozenset(alive & self._inner)


def is_followed(graph: LinearGraph) -> bool:
    """Whether a backward pass through this graph is possible."""
    return is_keeping() or any(node.past is not None for node in graph.nodes)


def _sources(node: Node) -> tuple[Node, ...]:
    owner = node.owner
    return node.inputs if owner is None else (*node.inputs, owner)
