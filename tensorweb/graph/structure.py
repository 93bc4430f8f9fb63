"""Numbers that equal structures share, and a bounded memory of what was checked."""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import TypeVar

STRUCTURES_KEPT = 1 << 16

_structures: dict[tuple[Hashable, ...], int] = {}
_numbers = itertools.count(1)


def number_of(*parts: Hashable) -> int:
    """Return a number that stands for some parts, the same for equal ones.

    Numbers are never used twice: when too many parts are known they are forgotten and
    get new numbers.
    """
    number = _structures.get(parts)
    if number is None:
        if len(_structures) >= STRUCTURES_KEPT:
            _structures.clear()
        number = _structures[parts] = next(_numbers)
    return number


T = TypeVar("T")


class Known(dict[Hashable, T]):
    """What builders remember of operands they have checked; bounded, never needed."""

    __slots__ = ()

    MOST = 4096

    def keep(self, key: Hashable, value: T) -> None:
        """Remember a value; forgets all when there are too many."""
        if len(self) >= self.MOST:
            self.clear()
        self[key] = value
