"""Give each storage of a plan a place: one buffer serves several, one after another.

A storage is needed from the kernel that makes it to the last one that reads it. Two
that are never needed at the same time may have the same buffer, since kernels run in
the order of the tape. The largest choose first, and smaller ones go where there is time
left; so all places together take little more than what is needed at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

LARGE = 1 << 20
"""Bytes from which on a place is used again at once, and results share their places."""

PATIENCE = 8
"""Kernels that smaller places wait before they are used again: what shares nothing may
run side by side."""


@dataclass(frozen=True, slots=True)
class Span:
    """How long a storage is needed.

    Attributes:
        reference: of the storage in its plan.
        size: bytes of a buffer that holds it.
        first: place of the kernel that makes it, in the order of the plan.
        last: place of the last kernel that needs it.
    """

    reference: int
    size: int
    first: int
    last: int


@dataclass(slots=True)
class Place:
    """One buffer and what it serves.

    Attributes:
        size: its bytes.
        references: of its storages, the largest first.
        busy: a bit for each kernel meanwhile it is needed.
        stays: whether it ends with a storage that outlives the flush.
    """

    size: int
    references: list[int] = field(default_factory=list)
    busy: int = 0
    stays: bool = False


def places(spans: Iterable[Span], staying: frozenset[int]) -> list[Place]:
    """Return places for storages; those of `staying` are needed beyond the last kernel.

    Such a storage shares a place of just its own size, with what is needed before.

    >>> chain = [Span(i, 4096, i, i + 1) for i in range(100)]
    >>> len(places(chain, frozenset()))
    10
    >>> chain = [Span(i, 4 << 20, i, i + 1) for i in range(100)]
    >>> len(places(chain, frozenset([99])))
    2
    """
    found: list[Place] = []
    open_places: list[Place] = []
    for span in sorted(spans, key=lambda each: (-each.size, each.first)):
        is_large = span.size >= LARGE
        if span.reference in staying:
            length = -1
        else:
            length = (1 << (span.last + 1 - span.first)) - 1
            length = length if is_large else (length << PATIENCE) | (1 << PATIENCE) - 1
        busy = length << span.first
        is_own = length < 0
        for place in open_places:
            if place.busy & busy or (is_own and place.size != span.size):
                continue
            break
        else:
            place = Place(span.size)
            found.append(place)
            if is_large or not is_own:
                open_places.append(place)
        place.references.append(span.reference)
        place.busy |= busy
        place.stays = place.stays or is_own
    return found


def peak(spans: Iterable[Span], staying: frozenset[int]) -> int:
    """Return the most bytes that are needed at once.

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
