"""Horizontal fusion: merge elementwise kernels of one index space.

Kernels of one shape that read the same storages, compute the same values or read each
other's element of the same index become one kernel. It stores the values that other
kernels need and holds the rest in registers. The level of a group is above the levels
of all groups that it reads, so that dependencies stay acyclic. One pass in the order of
computation decides, and considers only the newest groups that share a node.

Without it a step of Adam is three kernels that move 1.4 times the bytes (1.3 times the
time on WebAssembly), 64 steps of an orbit 882 kernels instead of one (40 times the time
on an H100), and a step of a small GPT 67 kernels instead of 62, with 1.3 times the
bytes.

Kernels that compute the same costly value should all be merged or none of them.
Therefore a group reserves room for the others when the first one joins it: without
that, the orbit in kernels of at most eight storages is 14 kernels instead of 4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from tensorweb.graph.node import Node
from tensorweb.schedule import policy
from tensorweb.schedule.kernel import Planned, Rule
from tensorweb.schedule.refining import Blocked
from tensorweb.shapes import Shape
from tensorweb.view import View


def walks_across(view: View) -> bool:
    """Whether a view is contiguous along another axis than the last.

    Kernels stage such inputs through tiles, which supports one output only.
    """
    axes = zip(view.shape, view.strides, strict=True)
    *outer, last = [stride for length, stride in axes if length != 1] or (1,)
    return last not in (-1, 0, 1) and 1 in outer


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel as planned before merging.

    Attributes:
        root: the node that it stores.
        reads: the nodes whose storages it reads, and whether each element reads only
            the element of the same index.
        scalars: its constants.
        inside: the nodes that it computes at the index of the result, root included.
        bar: the rule by which it is not merged with others, if it cannot be.
        extra_outputs: further nodes that it stores.
    """

    root: Node
    reads: Mapping[Node, bool]
    scalars: Collection[Node]
    inside: Collection[Node]
    bar: Rule | None
    extra_outputs: Collection[Node] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one kernel.

    Attributes:
        storages: inputs and outputs together.
        scalars: constants.
        steps: values computed per element.
    """

    storages: int
    scalars: int
    steps: int


@dataclass(slots=True, eq=False)
class Group:
    """Kernels that are merged into one.

    Attributes:
        level: greater than the level of every group that it reads.
        members: the nodes that it computes, in order.
        reads: nodes of other groups whose storages it reads.
        scalars: its constants.
        inside: the nodes that it computes.
        is_open: whether further kernels may be added.
        is_read: whether another group reads it, which fixes its level.
        reserved: kernels for which room is reserved, by root.
    """

    level: int
    members: dict[Node, None]
    reads: dict[Node, None]
    scalars: set[Node]
    inside: set[Node]
    is_open: bool
    is_read: bool = False
    reserved: dict[Node, Candidate] = field(default_factory=dict)


@dataclass(slots=True)
class Joining:
    """The decision for the kernels of one graph.

    Attributes:
        candidates: the kernels in order of computation.
        limits: limits of one kernel.
        graph_outputs: nodes that are always stored.
        sharers: kernels that should all be merged or none of them, by root.
        groups: group by node.
    """

    candidates: Sequence[Candidate]
    limits: Limits
    graph_outputs: Collection[Node]
    sharers: Mapping[Node, Sequence[Candidate]]
    groups: dict[Node, Group] = field(default_factory=dict)
    _readers: dict[Node, int] = field(default_factory=dict)
    _inner: dict[Node, int] = field(default_factory=dict)
    _reserved_by: dict[Node, Group] = field(default_factory=dict)
    _newest: dict[tuple[Node, Shape], list[Group]] = field(default_factory=dict)
    _refused: dict[tuple[Node, Group], Rule] = field(default_factory=dict)
    _by_root: dict[Node, Candidate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Decide for one kernel after another."""
        for candidate in self.candidates:
            self._by_root[candidate.root] = candidate
            for node in candidate.reads:
                self._readers[node] = self._readers.get(node, 0) + 1
        for candidate in self.candidates:
            self._add(candidate)

    def _add(self, candidate: Candidate) -> None:
        """Add a kernel to the group with which it shares most, or begin a new group."""
        group = self._best(candidate) if candidate.bar is None else None
        if group is None:
            level = self._least_level(candidate, None)
            group = Group(level, {}, {}, set(), set(), candidate.bar is None)
        else:
            group.level = max(group.level, self._least_level(candidate, group))
        expected = self._expected(candidate, group)
        if len(expected) > 1 and self._has_room(group, expected):
            group.reserved = {each.root: each for each in expected}
            self._reserved_by.update(dict.fromkeys(group.reserved, group))
        holder = self._reserved_by.get(candidate.root)
        if holder is not None:
            holder.reserved.pop(candidate.root, None)
        for node in candidate.reads:
            source = self.groups.get(node)
            if source is group:
                self._inner[node] = self._inner.get(node, 0) + 1
            elif source is not None:
                source.is_read = True
        group.reads.update(dict.fromkeys(self._outside(candidate, group)))
        group.members[candidate.root] = None
        group.scalars.update(candidate.scalars)
        group.inside.update(candidate.inside)
        self.groups.update(
            dict.fromkeys((candidate.root, *candidate.extra_outputs), group)
        )
        if group.is_open:
            for node in self._shared(candidate):
                newest = self._newest.setdefault((node, candidate.root.shape), [])
                if group not in newest:
                    newest.append(group)
                    del newest[: -policy.NEWEST_GROUPS]

    def _shared(self, candidate: Candidate) -> Iterable[Node]:
        """Yield the nodes that make merging pay if another kernel shares them."""
        half = candidate.root.size / 2
        yield from (node for node in candidate.reads if node.size >= half)
        yield from candidate.inside

    def _outside(self, candidate: Candidate, group: Group) -> Iterable[Node]:
        return (node for node in candidate.reads if node not in group.members)

    def _least_level(self, candidate: Candidate, group: Group | None) -> int:
        """Return the level above all other groups that a kernel reads."""
        sources = (self.groups.get(node) for node in candidate.reads)
        levels = (each.level for each in sources if each and each is not group)
        return max(levels, default=-1) + 1

    def _best(self, candidate: Candidate) -> Group | None:
        """Return the group with which a kernel shares most, or None if none fits."""
        shares: dict[Group, int] = {}
        for node in self._shared(candidate):
            for group in self._newest.get((node, candidate.root.shape), ()):
                shares[group] = shares.get(group, 0) + 1
        for group in sorted(shares, key=lambda each: (-shares[each], -each.level)):
            rule = self._bars(candidate, group)
            if rule is None:
                return group
            self._refused[candidate.root, group] = rule
        return None

    def _bars(self, candidate: Candidate, group: Group) -> Rule | None:
        """Return the rule by which a kernel cannot join a group, None if it can."""
        for node, is_in_place in candidate.reads.items():
            if node in group.members and not is_in_place:
                return Rule.KEPT_MOVED
        if group.is_read and self._least_level(candidate, group) > group.level:
            return Rule.KEPT_BETWEEN
        has_room = self._has_room(group, self._expected(candidate, group))
        return None if has_room else Rule.KEPT_FULL

    def apart(self, node: Node, group: Group) -> Rule:
        """Return why a group that reads a node is not merged with the node's own."""
        source = self.groups[node]
        maker = self._by_root[next(iter(source.members))]
        readers = (self._by_root[root] for root in group.members)
        reader = next(each for each in readers if node in each.reads)
        if rule := maker.bar or reader.bar:
            return rule
        if maker.root.shape != reader.root.shape:
            return Rule.KEPT_SHAPE
        return self._refused.get((reader.root, source), Rule.KEPT_OTHER)

    def _expected(self, candidate: Candidate, group: Group) -> list[Candidate]:
        """Return the kernel, its sharers, and the kernels with reserved room."""
        more = {candidate.root: candidate, **group.reserved}
        sharers = self.sharers.get(candidate.root, ())
        if not any(self.sharers.get(node) is sharers for node in group.members):
            # One kernel more than the limit shows that there is no room.
            first = islice(sharers, self.limits.storages + 1)
            more.update((sharer.root, sharer) for sharer in first)
        return list(more.values())

    def _has_room(self, group: Group, more: Sequence[Candidate]) -> bool:
        """Whether a group stays within the limits with these kernels added."""
        limits = self.limits
        if (
            _union_size(group.inside, (n for c in more for n in c.inside))
            > limits.steps
        ):
            return False
        scalars = (node for each in more for node in each.scalars)
        if _union_size(group.scalars, scalars) > limits.scalars:
            return False
        members = {*group.members, *(each.root for each in more)}
        reads = [node for each in more for node in each.reads]
        inputs = _union_size(group.reads, (n for n in reads if n not in members))
        outputs = sum(self._is_stored(n, reads.count(n)) for n in group.members)
        return inputs + outputs + len(more) <= limits.storages

    def _is_stored(self, node: Node, more: int = 0) -> bool:
        """Whether a member must be stored: it is an output or read by other groups.

        `more` counts its readers that are about to join the group.
        """
        inner = self._inner.get(node, 0) + more
        return node in self.graph_outputs or self._readers.get(node, 0) > inner

    def outputs(self, group: Group) -> list[Node]:
        """Return the members of a group that are stored."""
        return [node for node in group.members if self._is_stored(node)]

    def exceeds(self, storages: int) -> bool:
        """Whether a merged group binds more storages than this.

        Possible if kernels for which it reserved room joined other groups.
        """
        for group in set(self.groups.values()):
            inputs = group.reads.keys() - group.members.keys()
            bound = len(inputs) + len(self.outputs(group))
            if len(group.members) > 1 and bound > storages:
                return True
        return False

    def ordered(self) -> list[Group]:
        """Return the groups in topological order.

        Otherwise in the order of their first members.
        """
        order: dict[Group, None] = {}
        for candidate in self.candidates:
            stack = [self.groups[candidate.root]]
            while stack:
                group = stack[-1]
                sources = [
                    self.groups[node]
                    for node in group.reads
                    if node in self.groups and self.groups[node] not in order
                ]
                if group in order or not sources:
                    order[group] = None
                    stack.pop()
                else:
                    stack += reversed(sources)
        return list(order)


def _union_size(held: Collection[Node], more: Iterable[Node]) -> int:
    """Return the size of the union of a group's nodes and those of joining kernels."""
    return len(held) + len({node for node in more if node not in held})


def find_sharers(
    candidates: Sequence[Candidate], costly: Collection[Node]
) -> dict[Node, list[Candidate]]:
    """Return for each kernel, by root, all kernels that share its costly values.

    Two kernels share if both compute the same costly value; sharing is transitive.
    """
    by_root: dict[Node, list[Candidate]] = {}
    by_value: dict[Node, list[Candidate]] = {}
    for candidate in candidates:
        sharers = [candidate]
        for node in candidate.inside:
            if node not in costly:
                continue
            other = by_value.get(node)
            if other is not None and other is not sharers:
                small, large = sorted((other, sharers), key=len)
                large += small
                for sharer in small:
                    by_root[sharer.root] = large
                    by_value.update((n, large) for n in sharer.inside if n in costly)
                sharers = large
            by_value[node] = sharers
        by_root[candidate.root] = sharers
    return by_root


def join(
    built: Sequence[tuple[Planned, Candidate]],
    limits: Limits,
    graph_outputs: Collection[Node],
    shared: Collection[Node],
    build: Callable[[Sequence[Node], Sequence[Node]], Planned],
) -> tuple[Joining, list[tuple[Planned, Group]]]:
    """Merge kernels of one index space; return the decision, all kernels in order.

    Args:
        built: the unmerged kernels, in order of computation.
        limits: limits of one kernel.
        graph_outputs: nodes that are always stored.
        shared: costly values that at most one kernel should compute.
        build: builds the kernel of several nodes; the second argument are its outputs.
    """
    unmerged = {candidate.root: planned for planned, candidate in built}
    candidates = [candidate for _, candidate in built]
    sharers = find_sharers(candidates, shared) if shared else {}
    room = limits
    while True:
        joining = Joining(candidates, room, graph_outputs, sharers)
        if joining.exceeds(limits.storages):
            room = replace(room, storages=room.storages - 1)
            continue
        kernels = []
        blocked: set[Node] = set()
        for group in joining.ordered():
            members = list(group.members)
            try:
                planned = (
                    build(members, joining.outputs(group))
                    if len(members) > 1
                    else unmerged[members[0]]
                )
                kernels.append((planned, group))
            except Blocked:  # two movements that no view composes
                blocked.update(members)
        if not blocked:
            return joining, kernels
        candidates = [
            replace(each, bar=Rule.RESHAPED) if each.root in blocked else each
            for each in candidates
        ]
