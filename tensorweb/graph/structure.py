"""Ids that equal structures share, and a bounded cache for builders."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import TypeVar

STRUCTURES_KEPT = 1 << 16

_structures: dict[tuple[Hashable, ...], int] = {}
_numbers = itertools.count(1)


def number_of(*parts: Hashable) -> int:
    """Return an id for a tuple of parts; equal tuples get equal ids.

    An id is never reused: when the table is full it is cleared, and tuples get new ids.
    """
    number = _structures.get(parts)
    if number is None:
        if len(_structures) >= STRUCTURES_KEPT:
            _structures.clear()
        number = _structures[parts] = next(_numbers)
    return number


T = TypeVar("T")


class Known(dict[Hashable, T]):
    """Bounded cache of checks of operands; clearing it never changes results."""

    __slots__ = ()

    MOST = 4096

    def keep(self, key: Hashable, value: T) -> None:
        """Cache a value; clears the cache first when it is full."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = value
