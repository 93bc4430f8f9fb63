"""Choose additional values to store, so that later flushes do not recompute them.

A flush computes cheap values inside the kernels that read them and does not store
them. A loop may need such a value again in its next flush, which would then recompute
its full history, in kernels that grow with every step. Therefore a read also computes
pending values that depend on what it computes. A value needed by a second flush is
stored by it, and so are values of the same operation, shape and dtype.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tensorweb.backends.liveness import held
from tensorweb.graph.kinds import Role, kinds_of
from tensorweb.graph.node import KEPT, WANTED, Node
from tensorweb.graph.pending import pending
from tensorweb.graph.tracing import Placeholder
from tensorweb.schedule.linear import LinearGraph

SMALL = 1 << 16
"""Values of up to this many elements may be stored in any graph."""

FREE = kinds_of(Role.SOURCE, Role.MOVEMENT)
"""Kinds whose values cost nothing to recompute."""


def what_hangs(graph: LinearGraph, *, everything: bool) -> list[Node]:
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
        hangs = everything and bool(order)
        for one in order:
            if any(source in reached for source in one.inputs):
                reached.add(one)
                hangs = True
        is_new = node.base not in graph.numbers and node.base.size <= limit
        is_chosen = _takes_work(node.base) if everything else node in reached
        if hangs and is_chosen and is_new:
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


def wanted_again(graph: LinearGraph) -> list[int]:
    """Return the indices of values to store because several flushes need them.

    Only values that this graph's outputs depend on are considered. A value held by an
    in-place assignment is stored together with the others of its operation and shape.
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


def held_values(graph: LinearGraph) -> list[int]:
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
    """Return the element count of a graph's largest storage, at least SMALL."""
    sizes = [node.size for node in graph.nodes if node.storage is not None]
    return max([SMALL, *sizes, *(graph.nodes[number].size for number in stored)])


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
