"""Keep values from being computed by one flush after another: what else to store.

A flush computes cheap values inside the kernels that read them and stores nothing for
them. A loop may need such a value again in its next flush, which then computes its
whole history once more, in kernels that grow with every step. Therefore a read also
computes what hangs on the values it needs, and what a second flush needs is stored by
it, together with its successors: values of the same operation, shape and dtype.
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
"""A value of so many elements may be stored whatever the others of its graph are."""

FREE = kinds_of(Role.SOURCE, Role.MOVEMENT)
"""Kinds whose values cost nothing to compute again."""


def what_hangs(graph: LinearGraph, *, everything: bool) -> list[Node]:
    """Return what is alive and built on pending values that a graph computes.

    With `everything` also what is built on other values, an average of weights that
    were computed before for example. Of several where one is built on the other, only
    the last: the others are computed inside it, or stored once they are needed again.
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
    """Return pending ancestors that are not known, inputs first, the node last.

    None at all of what `jit` recorded, since nobody can compute that: a node is added
    to `recorded` if it hangs on an argument of a recording. A recording may leave many
    nodes; each is visited once.
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
    """Return the numbers of values to store because flushes need them repeatedly.

    What only values that were computed before need is left out; what a tensor holds by
    assignment is stored with all others that are held so.
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
    """Return the numbers of pending values that somebody else than their graph holds.

    A loop's next steps need some of them, and nothing tells which.
    """
    limit = _largest(graph, graph.outputs)
    nodes = [graph.nodes[number].base for number in held(graph)]
    return [
        graph.numbers[node]
        for node in dict.fromkeys(nodes)
        if _takes_work(node) and node.size <= limit
    ]


def worth_storing(graph: LinearGraph, stored: Collection[int]) -> Iterator[int]:
    """Return the numbers of values outside of `stored` to store if needed again.

    They are neither as quick to compute as to read nor larger than what a graph holds.
    """
    limit = _largest(graph, stored)
    for number, node in enumerate(graph.nodes):
        if number in stored or not _takes_work(node) or not 0 < node.size <= limit:
            continue
        if any(_takes_work(source.base) for source in node.inputs):
            yield number


def _largest(graph: LinearGraph, stored: Collection[int]) -> int:
    """Return the elements of a graph's largest storage."""
    sizes = [node.size for node in graph.nodes if node.storage is not None]
    return max([SMALL, *sizes, *(graph.nodes[number].size for number in stored)])


def _is_wanted(node: Node) -> bool:
    """Whether a pending value is to be stored; an assigned one, if it is still held."""
    if isinstance(node.mark, int):
        return node.mark == WANTED
    tensor = node.mark()
    return tensor is not None and tensor.node is node


def _takes_work(node: Node) -> bool:
    return node.base.storage is None and node.op.kind not in FREE


def _kind(node: Node) -> tuple[object, ...]:
    return node.op, node.attrs, node.shape, node.dtype
