"""Decide which values a flush computes and stores beyond the requested ones.

A flush computes cheap values inside the kernels that read them and stores as little as
it can. This module is the only one that decides what else survives; "without it" was
measured in November 2026, on WebAssembly and an H100:

- `Lifetimes`: results that tensors, pending graphs or autograd histories still refer
  to. It compares the reference count of each node with the references of the graph
  itself. If a result is freed by mistake, its node retains its inputs and is
  recomputed. Weak references from tensors would not do: pending nodes outside of the
  graph and autograd histories need results, and nodes have no list of consumers.
- `pending_dependents`: pending tensors that a read, or the end of a step, evaluates as
  well because they depend on the same values. Without it a simulation that is read
  every step moves 1.4 times the bytes.
- `needed_again`: values that an earlier flush computed without storing them, and their
  like (same operation, shape and dtype). A second flush that needs them stores them.
  Without it that simulation plans every step, and a step moves 2.5 times the bytes;
  without the values alike 1.25 times.
- `referenced_values`: values that a very deep graph stores, because a loop may need
  them. Without it a simulation that is never read moves 7 times the bytes.
- `call_invariants`: values that a traced function captures, computed once. Without it a
  call that captures data of 2048 x 256 moves 10 times the bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from operator import itemgetter
from sys import getrefcount

from tensorweb.backends import policy
from tensorweb.graph.autograd import depends_on_leaf, is_recording, retains_inputs
from tensorweb.graph.node import KEPT, WANTED, Node, pending
from tensorweb.graph.op import Role, kinds_of
from tensorweb.graph.tracing import Placeholder
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.policy import RECOMPUTE_LIMIT

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
    # A linear graph numbers its nodes in a dict, which refers to each of them too.
    numbers = {node: number for number, node in enumerate(nodes)}
    count = _counts(itemgetter(0, 1), nodes)[0]
    del numbers  # alive until the references are counted
    return count


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


def _referenced(
    graph: LinearGraph, watched: Sequence[int], expected: list[int], chosen: Chosen
) -> tuple[int, ...]:
    """Return the watched nodes with more references than the graph's own."""
    counts = _counts(chosen, graph.nodes)
    if counts == expected:
        return ()
    triples = zip(watched, counts, expected, strict=True)
    return tuple([number for number, count, own in triples if count > own])


def held(graph: LinearGraph) -> list[int]:
    """Return the indices of pending nodes referenced outside of their graph.

    Outputs are omitted.
    """
    watched, expected = _watched(graph)
    if not watched:
        return []
    return list(_referenced(graph, watched, expected, _chooser(watched)))


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
            if len(self._known) >= policy.REFERENCED_SETS_CACHED:
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
        return _referenced(graph, self._watched, self._expected, self._chosen)

    def _reached(self, graph: LinearGraph, held: Collection[int]) -> frozenset[int]:
        """Return the inner results that live nodes depend on."""
        nodes, numbers = graph.nodes, graph.numbers
        alive = {*graph.outputs, *held}
        for number in range(len(nodes) - 1, -1, -1):
            node = nodes[number]
            if number not in alive or node.storage is not None:
                continue
            if number not in self._results or retains_inputs(node):
                alive.update(
                    numbers[each] for each in _sources(node) if each in numbers
                )
        return frozenset(alive & self._inner)


def is_followed(graph: LinearGraph) -> bool:
    """Whether a backward pass through this graph is possible."""
    return is_recording() or any(map(depends_on_leaf, graph.nodes))


def _sources(node: Node) -> tuple[Node, ...]:
    owner = node.owner
    return node.inputs if owner is None else (*node.inputs, owner)


FREE = kinds_of(Role.SOURCE, Role.MOVEMENT)
"""Kinds whose values cost nothing to recompute."""


def pending_dependents(graph: LinearGraph, *, everything: bool) -> list[Node]:
    """Return the live pending values that depend on values a graph computes.

    With `everything`, also pending values that depend only on computed ones, such as
    an average of weights. Of several that depend on each other only the last is
    returned: the others are computed inside it, or stored when they are needed again.
    """
    alive = pending(graph.nodes[-1].device).take()
    if not alive:
        return []
    reached = {node for node in graph.nodes if _takes_work(node)}
    known = set(graph.numbers)
    limit = _largest(graph, graph.outputs)
    found: list[Node] = []
    recorded: set[Node] = set()
    for node in reversed(alive):
        if node in known or node in recorded:
            continue
        order = _new_ancestors(node, known, recorded)
        known.update(order)
        depends = everything and bool(order)
        for one in order:
            if any(source in reached for source in one.inputs):
                reached.add(one)
                depends = True
        is_new = node.base not in graph.numbers and node.base.size <= limit
        is_chosen = _takes_work(node.base) if everything else node in reached
        if depends and is_chosen and is_new:
            found.append(node.base)
    return found[::-1]


def _new_ancestors(node: Node, known: set[Node], recorded: set[Node]) -> list[Node]:
    """Return the pending ancestors outside of `known`, inputs first, the node last.

    Empty for a node that depends on an argument of a `jit` trace, which cannot be
    computed: such nodes are added to `recorded`. A trace may leave many nodes; each is
    visited once.
    """
    order: list[Node] = []
    seen = {node}
    stack = [(node, False)]
    while stack:
        one, is_ready = stack.pop()
        if is_ready:
            is_recorded = any(
                source in recorded or isinstance(source.base.storage, Placeholder)
                for source in one.inputs
            )
            (recorded.add if is_recorded else order.append)(one)
            continue
        stack.append((one, True))
        for source in one.inputs:
            is_new = not (source in seen or source in known or source in recorded)
            if is_new and source.base.storage is None:
                seen.add(source)
                stack.append((source, False))
    return [] if node in recorded else order


def needed_again(graph: LinearGraph) -> list[int]:
    """Return the indices of values to store because several flushes need them.

    Only values that this graph's outputs depend on are considered. A value held by an
    in-place assignment is stored together with all others of its operation and shape.
    """
    nodes = graph.nodes
    marked = [node for node in nodes if node.mark]
    if not marked:
        return []
    reached = {nodes[number] for number in graph.outputs}
    kinds = {_kind(node) for node in marked if node.mark is KEPT}
    found: dict[int, None] = {}
    for number in range(len(nodes) - 1, -1, -1):
        node = nodes[number]
        if node not in reached:
            continue
        if node.mark and _takes_work(node.base) and _is_wanted(node):
            found[number] = None
            kinds.add(_kind(node))
            if node.mark == WANTED:
                continue
        reached.update(node.inputs)
    for number, node in enumerate(nodes):
        if _takes_work(node) and _kind(node) in kinds and node in reached:
            found[number] = None
    return sorted(found.keys() - set(graph.outputs))


def referenced_values(graph: LinearGraph) -> list[int]:
    """Return the indices of pending values that are referenced outside of their graph.

    The next steps of a loop need some of them; which ones cannot be determined.
    """
    limit = _largest(graph, graph.outputs)
    nodes = [graph.nodes[number].base for number in held(graph)]
    return [
        graph.numbers[node]
        for node in dict.fromkeys(nodes)
        if _takes_work(node) and node.size <= limit
    ]


def worth_storing(graph: LinearGraph, stored: Collection[int]) -> Iterator[int]:
    """Yield the indices of unstored values that should be stored if needed again.

    Values that are as cheap to compute as to read are omitted, and values larger than
    the graph's largest storage.
    """
    limit = _largest(graph, stored)
    for number, node in enumerate(graph.nodes):
        if number in stored or not _takes_work(node) or not 0 < node.size <= limit:
            continue
        if any(_takes_work(source.base) for source in node.inputs):
            yield number


def _largest(graph: LinearGraph, stored: Collection[int]) -> int:
    """Return the element count of a graph's largest storage, at least ALWAYS_STORED."""
    sizes = [node.size for node in graph.nodes if node.storage is not None]
    return max(
        [policy.ALWAYS_STORED, *sizes, *(graph.nodes[number].size for number in stored)]
    )


def _is_wanted(node: Node) -> bool:
    """Whether a marked value must be stored; an assigned one if its tensor lives."""
    if isinstance(node.mark, int):
        return node.mark == WANTED
    tensor = node.mark()
    return tensor is not None and tensor.node is node


def _takes_work(node: Node) -> bool:
    return node.base.storage is None and node.op.kind not in FREE


def _kind(node: Node) -> tuple[object, ...]:
    return node.op, node.attrs, node.shape, node.dtype


def call_invariants(graph: LinearGraph, arguments: Collection[Node]) -> list[Node]:
    """Return the captured pending values that do not depend on the arguments.

    Cheap values of ramps and constants alone are omitted: a mask, for example, is as
    quick to compute as to load, and needs no storage. Random numbers of a key that
    the host knows are not cheap.
    """
    changing = set(arguments)
    worth_loading: set[Node] = set()
    found: dict[Node, None] = {}
    for node in graph.nodes:
        sources = (*node.inputs, *([node.owner] if node.owner else ()))
        if node in changing or any(source in changing for source in sources):
            changing.add(node)
        elif (
            node.base.storage is not None
            or node.op.weight > RECOMPUTE_LIMIT
            or any(source in worth_loading for source in sources)
        ):
            worth_loading.add(node)
    for node in graph.nodes:
        if node in changing:
            for source in node.inputs:
                base = source.base
                is_fixed = base in worth_loading and base.storage is None
                if (
                    is_fixed
                    and base.op.kind not in FREE
                    and base.size <= policy.LARGEST_INVARIANT
                ):
                    found[base] = None
    return list(found)
