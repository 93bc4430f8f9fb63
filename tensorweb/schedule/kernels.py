"""Schedule a graph: its kernels in the order in which they must run."""

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
from tensorweb.schedule.kernel_builder import ROOM, KernelBuilder
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.rolling import written_steps

MOST_STEPS = 192
"""Most values per element of a merged kernel, or of one with a loop; a loop's steps
count once."""

MOST_VALUES_PER_OPERATION = 4
"""Merged kernels with loops: most values per operation of the longest chain."""

LONGEST_LOOP = 4096
"""Longest chain of operations that is generated as a loop."""


def plan(
    graph: LinearGraph,
    max_inputs: int,
    equal: Mapping[Node, Node] = MappingProxyType({}),
    rolls: bool = False,
) -> list[Planned]:
    """Return the kernels that compute a graph's outputs.

    Where a kernel is blocked, fusion is repeated with the blocking nodes stored;
    kernels that this does not change are reused.

    Args:
        graph: the linear graph.
        max_inputs: most storages that one kernel may read on the device.
        equal: constants by the equal constant that is passed instead.
        rolls: whether repeated steps are generated as loops, at any length.
    """
    uncut = Fusion(graph)
    if rolls:
        is_long, kernels = _kernels(uncut, max_inputs, equal, LONGEST_LOOP)
        if not is_long or _is_written_in_loops(kernels):
            return kernels
    return _kernels(uncut, max_inputs, equal, LONGEST_CHAIN)[1]


def _is_written_in_loops(kernels: Sequence[Planned]) -> bool:
    """Whether re-rolling keeps every kernel's text within MOST_STEPS."""
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
    """Return whether a chain exceeds LONGEST_CHAIN, and the kernels.

    Args:
        uncut: the fusion of the graph without a limit on chains.
        max_inputs: most storages that one kernel may read on the device.
        equal: constants by the equal constant that is passed instead.
        longest: longest chain of operations in an elementwise kernel.
    """
    graph = uncut.graph
    forced: dict[Node, None] = {}
    earlier: Fusion | None = None
    fusion, stored = uncut, list[Node]()
    if uncut.longest > longest:
        # Chains are measured before fusion finds which of their values are stored for
        # several owners. With these given, most chains need no cut: the gradients of
        # 64 steps of an LSTM are 1,212 kernels instead of 1,381.
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
    """Return the costly shared values that several kernels compute."""
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
    """Return the kernels of a graph, kernels of one index space merged.

    `known` caches merged kernels by their nodes and outputs.
    """
    steps = (
        MOST_STEPS if longest == LONGEST_CHAIN else MOST_VALUES_PER_OPERATION * longest
    )
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
