"""What a flush takes from the pool, and which buffer each storage of it gets.

Where all of it together is more than there is, a flush goes in parts: each takes what
its own kernels make, and gives back what no later one needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tensorweb.backends.buffer_assignment import Place, Span, places
from tensorweb.backends.pipelines import Pipelines
from tensorweb.backends.pool import Taken
from tensorweb.backends.tapes import Command, Holes, Tape, make_tape

MOST_COMMANDS = 1000
"""Commands in one tape; its parameter block has room for 1024 launches."""


@dataclass(slots=True)
class Part:
    """Kernels of a flush, the buffers that they take and what they submit.

    Attributes:
        taken: what is taken from the pool for them.
        tapes: what to submit, with the slots that their holes are filled with.
        left: slots that nothing needs after them.
    """

    taken: Taken
    tapes: list[tuple[Tape, Holes]]
    left: list[int]


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
        found = places(self.spans, staying)
        taken = self._taken(found, slots)
        part = Part(taken, [(tape, holes_of(tape, slots)) for tape in tapes], [])
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
            taken = self._taken(found, slots)
            for place in found:
                reference = max(place.references, key=last.__getitem__)
                carried[slots[reference]] = reference
            left = [slot for slot, each in carried.items() if last[each] < end]
            for slot in left:
                del carried[slot]
            own = [each for each in commands if begin <= each.place < end]
            tapes = make_tapes(own, pipelines)
            parts.append(
                Part(taken, [(tape, holes_of(tape, slots)) for tape in tapes], left)
            )
            begin = end
        return self._layout(parts, most, slots, staying)

    def _longest(
        self, begin: int, kernels: int, last: Mapping[int, int], room: int
    ) -> tuple[int, list[Place]]:
        """Return the end of the longest part that fits, and its places."""
        best: tuple[int, list[Place]] = (begin, [])
        low, high = begin, kernels
        while low < high:
            end = (low + high + 1) // 2
            own = [span for span in self.spans if begin <= span.first < end]
            crossing = frozenset(
                span.reference for span in own if last[span.reference] >= end
            )
            found = places(own, crossing)
            if _bytes(found) <= room:
                low, best = end, (end, found)
            else:
                high = end - 1
        return best

    def _taken(self, found: Iterable[Place], slots: dict[int, int]) -> Taken:
        """Give places slots behind the others, and return what is taken for them."""
        by_size: dict[int, list[list[int]]] = {}
        for place in found:
            by_size.setdefault(place.size, []).append(place.references)
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
        return taken

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


def _bytes(found: Iterable[Place]) -> int:
    return sum(place.size for place in found)


def holes_of(tape: Tape, slots: Mapping[int, int]) -> Holes:
    """Return the holes of a tape with slots in place of references."""
    return [(at, slots[reference]) for at, reference in tape.buffer_holes]


def make_tapes(commands: Sequence[Command], pipelines: Pipelines) -> list[Tape]:
    """Return the tapes of commands, as few as can be."""
    return [
        make_tape(commands[begin : begin + MOST_COMMANDS], pipelines)
        for begin in range(0, len(commands), MOST_COMMANDS)
    ]
