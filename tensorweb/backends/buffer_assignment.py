"""Buffer assignment: storages whose lifetimes do not overlap share a buffer.

A storage is live from the kernel that computes it to the last kernel that reads it.
Kernels run in the order of the tape, so storages that are never live together may share
a buffer. Storages are assigned by decreasing size, so that the total is little more
than the peak of live bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

LARGE = 1 << 20
"""Buffers of at least this many bytes are reused at once, and by results too."""

PATIENCE = 8
"""Kernels to wait before a smaller buffer is reused: kernels that share no buffer may
run concurrently."""


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
class Place:
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


def places(spans: Iterable[Span], staying: frozenset[int]) -> list[Place]:
    """Assign storages to buffers; storages in `staying` outlive the last kernel.

    Such a storage shares a buffer only of exactly its size, with earlier storages.

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
