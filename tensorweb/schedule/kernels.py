"""Schedule a graph: its kernels in the order in which they must run.

Kernels arrive depth first from the outputs. A kernel that frees memory, the gradient
of a weight for example, often comes late, and its inputs stay allocated until then. So
a kernel runs as soon as its inputs are ready if it frees at least as many bytes as it
allocates.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from tensorweb.graph.node import Node
from tensorweb.schedule import policy
from tensorweb.schedule.fusion import Fusion
from tensorweb.schedule.joining import Candidate, Group, Joining, Limits, join
from tensorweb.schedule.kernel import Planned, Rule
from tensorweb.schedule.kernel_builder import KernelBuilder
from tensorweb.schedule.linear import LinearGraph
from tensorweb.schedule.refining import Blocked
from tensorweb.schedule.rolling import written_steps


def ordered(
    kernels: Sequence[Planned], sizes: Mapping[int, int], outputs: Collection[int]
) -> Sequence[Planned]:
    """Return the kernels in an order of lower peak memory, if one is found.

    Args:
        kernels: in a valid order.
        sizes: bytes of each result.
        outputs: results that stay allocated afterwards.
    """
    if len(kernels) < 3 or sum(sizes.values()) < policy.LEAST_ORDERED_BYTES:
        return kernels
    better = _Order(kernels, sizes, outputs).found
    is_better = peak(better, sizes, outputs) < peak(kernels, sizes, outputs)
    return better if is_better else kernels


def peak(
    kernels: Sequence[Planned], sizes: Mapping[int, int], outputs: Collection[int]
) -> int:
    """Return the peak of allocated result bytes in this order."""
    last = {}
    for index, kernel in enumerate(kernels):
        last.update(dict.fromkeys(kernel.outputs, index))
        last.update((each, index) for each in kernel.inputs if each in last)
    ending: dict[int, int] = {}
    for number, index in last.items():
        if number not in outputs:
            ending[index] = ending.get(index, 0) + sizes[number]
    most = now = 0
    for index, kernel in enumerate(kernels):
        now += sum(sizes[number] for number in kernel.outputs)
        most = max(most, now)
        now -= ending.get(index, 0)
    return most


class _Order:
    """Simulates running the kernels and chooses the next one greedily.

    Attributes:
        found: the kernels in the new order.
    """

    def __init__(
        self,
        kernels: Sequence[Planned],
        sizes: Mapping[int, int],
        outputs: Collection[int],
    ) -> None:
        self._kernels = kernels
        self._sizes = sizes
        self.found: list[Planned] = []
        self._is_done = [False] * len(kernels)
        self._missing = [0] * len(kernels)  # inputs that are not computed yet
        self._readers: dict[int, list[int]] = {
            number: [] for kernel in kernels for number in kernel.outputs
        }
        for index, kernel in enumerate(kernels):
            for number in kernel.inputs:
                if number in self._readers:
                    self._readers[number].append(index)
                    self._missing[index] += 1
        self._left = {number: len(own) for number, own in self._readers.items()}
        for number in outputs:
            if number in self._left:
                self._left[number] += 1
        for index in range(len(kernels)):
            if not self._is_done[index]:
                self._run_with_what_frees(index)

    def _run_with_what_frees(self, index: int) -> None:
        """Run a kernel, then every kernel that frees at least what it allocates."""
        waiting = self._run(index)
        while freeing := [each for each in waiting if self._frees(each)]:
            index = min(freeing)
            waiting = [each for each in waiting if not self._is_done[each]]
            waiting += self._run(index)

    def _run(self, index: int) -> list[int]:
        """Run a kernel; return kernels that became ready or free more than before."""
        kernel = self._kernels[index]
        self._is_done[index] = True
        self.found.append(kernel)
        touched = []
        for number in kernel.outputs:
            for reader in self._readers[number]:
                self._missing[reader] -= 1
                touched.append(reader)
        for number in kernel.inputs:
            if number in self._left:
                self._left[number] -= 1
                if self._left[number] == 1:
                    touched += self._readers[number]
        return [
            each
            for each in touched
            if not self._missing[each] and not self._is_done[each]
        ]

    def _frees(self, index: int) -> bool:
        """Whether a ready kernel frees at least as many bytes as it allocates."""
        if self._is_done[index]:
            return False
        kernel, sizes = self._kernels[index], self._sizes
        freed = sum(sizes[each] for each in kernel.inputs if self._left.get(each) == 1)
        return freed >= sum(sizes[number] for number in kernel.outputs)


def plan(
    graph: LinearGraph,
    max_inputs: int,
    equal: Mapping[Node, Node] = MappingProxyType({}),
    rolls: bool = False,
) -> list[Planned]:
    """Return the kernels that compute a graph's outputs.

    Args:
        graph: the linear graph.
        max_inputs: most storages that one kernel may read on the device.
        equal: constants by the equal constant that is passed instead.
        rolls: whether repeated steps are generated as loops, at any length.
    """
    uncut = Fusion(graph)
    if rolls:
        scheduler = _Scheduler(uncut, max_inputs, equal, sys.maxsize, sys.maxsize)
        kernels = scheduler.kernels()
        is_long = scheduler.fusion.longest > policy.LONGEST_CHAIN
        if not is_long or _is_written_in_loops(kernels):
            return kernels
    longest, steps = policy.LONGEST_CHAIN, policy.MOST_STEPS
    return _Scheduler(uncut, max_inputs, equal, longest, steps).kernels()


def _is_written_in_loops(kernels: Sequence[Planned]) -> bool:
    """Whether re-rolling keeps every kernel's text within MOST_STEPS."""
    values = [
        each.kernel.expression("value")
        for each in kernels
        if each.kernel.kind == "elementwise"
    ]
    has_loop = any(len(value.steps) > written_steps(value) for value in values)
    return has_loop and all(
        written_steps(value) <= policy.MOST_STEPS for value in values
    )


class _Scheduler:
    """Repeats fusion until no kernel is blocked, and merges the kernels.

    A blocked kernel names nodes that must be stored first. Kernels that storing them
    does not change are built once.

    Attributes:
        fusion: the newest decision.
    """

    def __init__(
        self,
        uncut: Fusion,
        max_inputs: int,
        equal: Mapping[Node, Node],
        longest: int,
        steps: int,
    ) -> None:
        """Begin.

        Args:
            uncut: the fusion of the graph without a limit on chains.
            max_inputs: most storages that one kernel may read on the device.
            equal: constants by the equal constant that is passed instead.
            longest: longest chain of operations in an elementwise kernel.
            steps: most values per element of a merged kernel.
        """
        self.fusion = uncut
        self._graph = uncut.graph
        self._max_inputs = max_inputs
        self._equal = equal
        self._longest = longest
        storages = max_inputs + policy.OUTPUT_BINDINGS
        self._limits = Limits(storages, policy.MOST_SCALARS, steps)
        self._forced: dict[Node, Rule | None] = {}
        self._stored: list[Node] = []
        self._built: dict[Node, tuple[Planned, Candidate]] = {}
        # Merged kernels by their nodes and outputs.
        self._merged: dict[tuple[tuple[Node, ...], tuple[Node, ...]], Planned] = {}
        if uncut.longest > longest:
            # Chains are measured before fusion finds which of their values are stored
            # for several owners. With these given, most chains need no cut: gradients
            # of 64 steps of an LSTM are 1,212 kernels instead of 1,381.
            self._stored = uncut.read_repeatedly()
            self.fusion = self._fuse()

    def kernels(self) -> list[Planned]:
        """Return the kernels in order."""
        while True:
            blocking = self._build()
            if not blocking:
                joining, merged = self._merge()
                blocking = _computed_repeatedly(self.fusion, merged)
                if not blocking:
                    return [self._with_rules(*each, joining) for each in merged]
            # A kernel of rows may name its own root, which is stored already.
            new = [b for b in blocking if b.storage is None and b not in self._forced]
            if not new:
                raise AssertionError(
                    f"internal: {next(iter(blocking))!r} blocks a kernel"
                )
            stored = self.fusion.stored
            self._forced.update({b: stored.get(b, blocking[b]) for b in new})
            before, self.fusion = self.fusion, self._fuse()
            self._forget(self.fusion.changed_since(before))

    def _fuse(self) -> Fusion:
        return Fusion(self._graph, self._forced, self._longest, self._stored)

    def _forget(self, changed: set[Node]) -> None:
        """Drop the kernels of roots that changed."""
        for root in changed:
            self._built.pop(root, None)
        for key in [key for key in self._merged if not changed.isdisjoint(key[0])]:
            del self._merged[key]

    def _with_rules(self, planned: Planned, group: Group, joining: Joining) -> Planned:
        """Return a kernel with the rules by which its inputs are stored."""
        rules: list[Rule | None] = []
        for number in planned.inputs:
            node = self._graph.nodes[number]
            is_here = node.storage is None
            rule = self.fusion.stored[node] if is_here else None
            rules.append(rule or joining.apart(node, group) if is_here else None)
        kernel, outputs, inputs = planned.kernel, planned.outputs, planned.inputs
        return Planned(kernel, outputs, inputs, planned.scalars, tuple(rules))

    def _build(self) -> dict[Node, Rule]:
        """Build the kernels of all roots; return the nodes that block some, and why."""
        blocking: dict[Node, Rule] = {}
        for root in self.fusion.roots:
            if root in self._built:
                continue
            builder = self._builder(root)
            try:
                self._built[root] = builder.build(), builder.candidate()
            except Blocked as blocked:
                for node in blocked.nodes:
                    blocking.setdefault(node.base, blocked.rule)
        return blocking

    def _builder(
        self, root: Node, others: Sequence[Node] = (), outputs: Sequence[Node] = ()
    ) -> KernelBuilder:
        graph, most, equal = self._graph, self._max_inputs, self._equal
        return KernelBuilder(graph, self.fusion, root, most, equal, others, outputs)

    def _merge(self) -> tuple[Joining, list[tuple[Planned, Group]]]:
        """Merge kernels of one index space; return the decision and all kernels."""
        graph, fusion = self._graph, self.fusion
        outputs = {graph.nodes[number].base for number in graph.outputs}
        built = [self._built[root] for root in fusion.roots]
        return join(built, self._limits, outputs, fusion.shared, self._build_merged)

    def _build_merged(
        self, members: Sequence[Node], outputs: Sequence[Node]
    ) -> Planned:
        key = tuple(members), tuple(outputs)
        if key not in self._merged:
            *others, root = members
            self._merged[key] = self._builder(root, others, outputs).build()
        return self._merged[key]


def _computed_repeatedly(
    fusion: Fusion, kernels: Sequence[tuple[Planned, Group]]
) -> dict[Node, Rule]:
    """Return the costly shared values that several kernels compute."""
    seen: set[Node] = set()
    repeated: dict[Node, Rule] = {}
    for _, group in kernels:
        inside = fusion.shared.intersection(group.inside)
        repeated.update(dict.fromkeys(inside & seen, Rule.RECOMPUTED))
        seen |= inside
    return repeated
