"""Choose the buffers of a flush: what it takes from the pool, and for which storages.

Storages whose lifetimes do not overlap share a buffer. A flush that needs more memory
than is available runs in parts: each part takes buffers for its own kernels, and
returns buffers that no later part needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from tensorweb.backends import policy
from tensorweb.backends.pipelines import Pipelines
from tensorweb.backends.pool import Taken
from tensorweb.backends.tapes import Command, Holes, Tape, make_tape
from tensorweb.memory_log import Purpose


@dataclass(frozen=True, slots=True)
class Span:
    """The lifetime of a storage.

    Attributes:
        reference: the storage's reference in its plan.
        size: bytes of its buffer.
        first: index of the kernel that computes it, in the order of the plan.
        last: index of the last kernel that needs it.
    """

    reference: int
    size: int
    first: int
    last: int


@dataclass(slots=True)
class Allocation:
    """One buffer and the storages that share it.

    Attributes:
        size: bytes of the buffer.
        references: references of its storages, the largest first.
        busy: bit set of the kernels during which it is in use.
        stays: whether its last storage outlives the flush.
    """

    size: int
    references: list[int] = field(default_factory=list)
    busy: int = 0
    stays: bool = False


def allocations(spans: Iterable[Span], staying: frozenset[int]) -> list[Allocation]:
    """Assign storages to buffers; storages in `staying` outlive the last kernel.

    Such a storage shares a buffer only of exactly its size, with earlier storages.

    >>> chain = [Span(i, 4096, i, i + 1) for i in range(100)]
    >>> len(allocations(chain, frozenset()))
    10
    >>> chain = [Span(i, 4 << 20, i, i + 1) for i in range(100)]
    >>> len(allocations(chain, frozenset([99])))
    2
    """
    found: list[Allocation] = []
    open_allocations: list[Allocation] = []
    for span in sorted(spans, key=lambda each: (-each.size, each.first)):
        is_large = span.size >= policy.LARGE_BUFFER
        if span.reference in staying:
            length = -1
        else:
            delay = 0 if is_large else policy.REUSE_DELAY
            length = (1 << (span.last + 1 - span.first + delay)) - 1
        busy = length << span.first
        is_own = length < 0
        for allocation in open_allocations:
            if allocation.busy & busy or (is_own and allocation.size != span.size):
                continue
            break
        else:
            allocation = Allocation(span.size)
            found.append(allocation)
            if is_large or not is_own:
                open_allocations.append(allocation)
        allocation.references.append(span.reference)
        allocation.busy |= busy
        allocation.stays = allocation.stays or is_own
    return found


def peak(spans: Iterable[Span], staying: frozenset[int]) -> int:
    """Return the peak of live bytes.

    >>> peak([Span(0, 8, 0, 1), Span(1, 4, 1, 2), Span(2, 8, 2, 2)], frozenset())
    12
    """
    most = now = 0
    ending: list[tuple[int, int]] = []
    for span in sorted(spans, key=lambda each: each.first):
        while ending and ending[0][0] < span.first:
            now -= heappop(ending)[1]
        now += span.size
        most = max(most, now)
        if span.reference not in staying:
            heappush(ending, (span.last, span.size))
    return most


@dataclass(slots=True)
class Part:
    """Kernels of a flush, the buffers that they take and what they submit.

    Attributes:
        taken: what is taken from the pool for them.
        tapes: what to submit, with the slots that their holes are filled with.
        left: slots that nothing needs after them.
        served: references of the storages of each buffer that is taken, in order.
        purpose: the same for a log of memory, made at the first request.
    """

    taken: Taken
    tapes: list[tuple[Tape, Holes]]
    left: list[int]
    served: list[list[int]]
    purpose: Purpose | None = None


@dataclass(slots=True)
class Layout:
    """The buffers of one flush.

    Storages have slots: first the storages that are read, then the buffers taken.

    Attributes:
        parts: parts that run one after another, usually one.
        nbytes: peak bytes taken from the pool.
        settled: node index and slot of each result that is needed afterwards.
        dropped: node indices of the other results.
    """

    parts: list[Part]
    nbytes: int
    settled: list[tuple[int, int]]
    dropped: list[int]


@dataclass(slots=True)
class Stock:
    """The storages of a plan.

    Attributes:
        reads: references of the storages that exist already.
        results: bytes of the results by reference, without scratch storages.
        spans: lifetimes of results and scratch storages.
    """

    reads: Sequence[int]
    results: Mapping[int, int]
    spans: Sequence[Span]

    def layout(self, tapes: Sequence[Tape], staying: frozenset[int]) -> Layout:
        """Return a layout that takes everything at once.

        Args:
            tapes: of all kernels.
            staying: results that are needed afterwards.
        """
        slots = {reference: slot for slot, reference in enumerate(self.reads)}
        found = allocations(self.spans, staying)
        taken, served = self._taken(found, slots)
        own = [(tape, holes_of(tape, slots)) for tape in tapes]
        part = Part(taken, own, [], served)
        return self._layout([part], _bytes(found), slots, staying)

    def in_parts(
        self,
        commands: Sequence[Command],
        pipelines: Pipelines,
        staying: frozenset[int],
        room: int,
    ) -> Layout | None:
        """Return a layout in parts that need at most `room` bytes at once.

        None if a kernel, with the values live at that time, needs more.
        """
        slots = {reference: slot for slot, reference in enumerate(self.reads)}
        sizes = {span.reference: span.size for span in self.spans}
        last = {span.reference: span.last for span in self.spans}
        kernels = 1 + max(last.values(), default=-1)
        last.update(dict.fromkeys(staying, kernels))
        carried: dict[int, int] = {}  # reference by slot
        parts: list[Part] = []
        most = begin = 0
        while begin < kernels:
            held = sum(sizes[reference] for reference in carried.values())
            end, found = self._longest(begin, kernels, last, room - held)
            if not found:
                return None
            most = max(most, held + _bytes(found))
            taken, served = self._taken(found, slots)
            for allocation in found:
                reference = max(allocation.references, key=last.__getitem__)
                carried[slots[reference]] = reference
            left = [slot for slot, each in carried.items() if last[each] < end]
            for slot in left:
                del carried[slot]
            own = [each for each in commands if begin <= each.index < end]
            tapes = make_tapes(own, pipelines)
            with_slots = [(tape, holes_of(tape, slots)) for tape in tapes]
            parts.append(Part(taken, with_slots, left, served))
            begin = end
        return self._layout(parts, most, slots, staying)

    def _longest(
        self, begin: int, kernels: int, last: Mapping[int, int], room: int
    ) -> tuple[int, list[Allocation]]:
        """Return the end of the longest part that fits, and its allocations."""
        best: tuple[int, list[Allocation]] = (begin, [])
        low, high = begin, kernels
        while low < high:
            end = (low + high + 1) // 2
            own = [span for span in self.spans if begin <= span.first < end]
            crossing = frozenset(
                span.reference for span in own if last[span.reference] >= end
            )
            found = allocations(own, crossing)
            if _bytes(found) <= room:
                low, best = end, (end, found)
            else:
                high = end - 1
        return best

    def _taken(
        self, found: Iterable[Allocation], slots: dict[int, int]
    ) -> tuple[Taken, list[list[int]]]:
        """Give allocations the next slots.

        Returns what is taken for them, and the references that each buffer serves.
        """
        by_size: dict[int, list[list[int]]] = {}
        for allocation in found:
            by_size.setdefault(allocation.size, []).append(allocation.references)
        count = 1 + max(slots.values(), default=-1)
        taken: Taken = []
        for size, served in by_size.items():
            firsts = [references[0] for references in served]
            taken.append(
                (size, [(each, self.results.get(each, size)) for each in firsts])
            )
            for references in served:
                slots.update(dict.fromkeys(references, count))
                count += 1
        return taken, [each for served in by_size.values() for each in served]

    def _layout(
        self,
        parts: list[Part],
        nbytes: int,
        slots: Mapping[int, int],
        staying: frozenset[int],
    ) -> Layout:
        return Layout(
            parts,
            nbytes,
            [(number, slots[number]) for number in self.results if number in staying],
            [number for number in self.results if number not in staying],
        )


def _bytes(found: Iterable[Allocation]) -> int:
    return sum(allocation.size for allocation in found)


def holes_of(tape: Tape, slots: Mapping[int, int]) -> Holes:
    """Return the holes of a tape with slots in place of references."""
    return [(at, slots[reference]) for at, reference in tape.buffer_holes]


def make_tapes(commands: Sequence[Command], pipelines: Pipelines) -> list[Tape]:
    """Return the tapes of commands, as few as can be."""
    return [
        make_tape(commands[begin : begin + policy.MOST_COMMANDS], pipelines)
        for begin in range(0, len(commands), policy.MOST_COMMANDS)
    ]
