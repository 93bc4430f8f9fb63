"""Make the kernels of a graph, in the order in which they must run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tensorweb.graph.node import Node
from tensorweb.schedule.chain import Blocked
from tensorweb.schedule.chain_length import LONGEST_CHAIN
from tensorweb.schedule.cuts import MOST_SCALARS
from tensorweb.schedule.fusion import Fusion
from tensorweb.schedule.joining import Candidate, Group, Limits, join
from tensorweb.schedule.kernel import Planned
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.plan import ROOM, KernelBuilder
from tensorweb.schedule.rolling import written_steps

MOST_STEPS = 192
"""Values that a kernel with several outputs, or one with a loop in its text, computes
for each element; those of a loop count once."""

MOST_BESIDE = 4
"""The same for each operation of the longest chain of a loop."""

LONGEST_LOOP = 4096
"""Operations in a row of a chain that is written as a loop."""


def plan(
    graph: LinearGraph,
    max_inputs: int,
    equal: Mapping[Node, Node] = MappingProxyType({}),
    rolls: bool = False,
) -> list[Planned]:
    """Return the kernels that compute a graph's outputs.

    Where a kernel is blocked, all is decided again with one more node stored; kernels
    for which that changes nothing are not built again.

    Args:
        graph: the numbered graph.
        max_inputs: most storages that one kernel may read on the device.
        equal: constants for which others are passed.
        rolls: whether steps that repeat are written as a loop, however many there are.
    """
    uncut = Fusion(graph)
    if rolls:
        is_long, kernels = _kernels(uncut, max_inputs, equal, LONGEST_LOOP)
        if not is_long or _is_written_in_loops(kernels):
            return kernels
    return _kernels(uncut, max_inputs, equal, LONGEST_CHAIN)[1]


def _is_written_in_loops(kernels: Sequence[Planned]) -> bool:
    """Whether loops make texts no longer than those of chains that are cut."""
    values = [
        each.kernel.expression("value")
        for each in kernels
        if each.kernel.kind == "elementwise"
    ]
    has_loop = any(len(value.steps) > written_steps(value) for value in values)
    return has_loop and all(written_steps(value) <= MOST_STEPS for value in values)


def _kernels(
    uncut: Fusion, max_inputs: int, equal: Mapping[Node, Node], longest: int
) -> tuple[bool, list[Planned]]:
    """Return kernels with such chains, and whether there are long ones among them.

    Args:
        uncut: the decision for the graph, whatever the lengths of its chains are.
        max_inputs: most storages that one kernel may read on the device.
        equal: constants for which others are passed.
        longest: operations in a row that an elementwise kernel may hold.
    """
    graph = uncut.graph
    forced: dict[Node, None] = {}
    earlier: Fusion | None = None
    fusion, stored = uncut, list[Node]()
    if uncut.longest > longest:
        # A chain is measured before it is known which of its values have several
        # owners and are stored. Where these are known most chains need no cut: the
        # gradients of 64 steps of an LSTM are 1,212 kernels instead of 1,381.
        stored = uncut.read_repeatedly()
        fusion = Fusion(graph, forced, longest, stored)
    known: dict[Node, tuple[Planned, Candidate]] = {}
    groups: dict[tuple[tuple[Node, ...], tuple[Node, ...]], Planned] = {}
    while True:
        changed = fusion.changed_since(earlier) if earlier is not None else set()
        for root in changed:
            known.pop(root, None)
        for key in [key for key in groups if not changed.isdisjoint(key[0])]:
            del groups[key]
        blocking: list[Node] = []
        for root in fusion.roots:
            if root in known:
                continue
            builder = KernelBuilder(graph, fusion, root, max_inputs, equal)
            try:
                known[root] = builder.build(), builder.candidate()
            except Blocked as blocked:
                blocking += [node.base for node in blocked.nodes]
        earlier = fusion
        if not blocking:
            built = [known[root] for root in fusion.roots]
            joined = _joined(graph, fusion, built, max_inputs, equal, longest, groups)
            blocking = _computed_again(fusion, joined)
            if not blocking:
                is_long = fusion.longest > LONGEST_CHAIN
                return is_long, [planned for planned, _ in joined]
        # A kernel of rows may name its own root, which is stored already.
        new = [b for b in blocking if b.storage is None and b not in forced]
        if not new:
            raise AssertionError(f"internal: {blocking[0]!r} blocks a kernel")
        forced.update(dict.fromkeys(new))
        fusion = Fusion(graph, forced, longest, stored)


def _computed_again(
    fusion: Fusion, kernels: Sequence[tuple[Planned, Group]]
) -> list[Node]:
    """Return costly values that should have been in one kernel but are in several."""
    found: set[Node] = set()
    again: dict[Node, None] = {}
    for _, group in kernels:
        inside = fusion.shared.intersection(group.inside)
        again.update(dict.fromkeys(inside & found))
        found |= inside
    return list(again)


def _joined(
    graph: LinearGraph,
    fusion: Fusion,
    built: Sequence[tuple[Planned, Candidate]],
    max_inputs: int,
    equal: Mapping[Node, Node],
    longest: int,
    known: dict[tuple[tuple[Node, ...], tuple[Node, ...]], Planned],
) -> list[tuple[Planned, Group]]:
    """Return the kernels of a graph, those of one index space joined.

    `known` are kernels of several nodes, by these and those of them that are stored.
    """
    steps = MOST_STEPS if longest == LONGEST_CHAIN else MOST_BESIDE * longest
    limits = Limits(max_inputs + ROOM, MOST_SCALARS, steps)
    wanted = {graph.nodes[number].base for number in graph.outputs}

    def build(members: Sequence[Node], outputs: Sequence[Node]) -> Planned:
        *others, root = members
        key = tuple(members), tuple(outputs)
        if key not in known:
            known[key] = KernelBuilder(
                graph, fusion, root, max_inputs, equal, others, outputs
            ).build()
        return known[key]

    return join(built, limits, wanted, fusion.shared, build)
