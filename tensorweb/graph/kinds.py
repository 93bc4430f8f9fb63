"""Kinds of operations, by which scheduler and backends choose what to do.

`tests/schedule/test_kinds.py` checks that every table by kind has all of these entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tensorweb.graph import attributes
from tensorweb.graph.attributes import Custom


class Role(Enum):
    """The role of a kind in a kernel."""

    SOURCE = "a value that takes no work: bytes, a number, an index ramp"
    MOVEMENT = "another view of its input; never computed"
    INLINE = "computed element by element inside whatever kernel reads it"
    CHOICE = "the same, reading its inputs at shifted positions"
    CORE = "gets a kernel, which computes elementwise what follows as well"
    STORED = "gets a kernel of its own, and its result a storage"


@dataclass(frozen=True, slots=True)
class Kind:
    """An entry of `ROWS`: a kind of operations.

    Attributes:
        name: the value of `Op.kind`.
        role: its role in a kernel.
        attributes: the classes of `graph/attributes.py` that its nodes have.
        cost: multiply-adds per element without the cost of the inputs; a `map`
            operation has `Op.weight` instead.
        extra_storages: count of storages its kernel binds beyond inputs and result.
    """

    name: str
    role: Role
    attributes: tuple[type, ...] = ()
    cost: int = 0
    extra_storages: int = 0


LOAD_COST = 4
"""Cost of loading one element from a storage, in multiply-adds."""

MOVEMENTS = (
    attributes.Reshape,
    attributes.Permutation,
    attributes.Expansion,
    attributes.Slices,
    attributes.Windows,
    attributes.Alias,
)

ROWS = (
    Kind("leaf", Role.SOURCE),
    Kind("constant", Role.SOURCE, (bool, int, float)),
    Kind("iota", Role.SOURCE),
    Kind("movement", Role.MOVEMENT, MOVEMENTS),
    Kind("map", Role.INLINE),
    Kind("copy", Role.INLINE),
    Kind("gather", Role.INLINE, (attributes.Taking,), LOAD_COST),
    Kind("pad", Role.CHOICE, (attributes.Padding,), 2),
    Kind("concat", Role.CHOICE, (attributes.Joining,), 2),
    Kind("embed", Role.CHOICE, (attributes.Box,), 2),
    Kind("reduce", Role.CORE, (attributes.Reduction,)),
    Kind("argreduce", Role.CORE, (attributes.Reduction,)),
    Kind("matmul", Role.CORE, (attributes.Groups,)),
    Kind("scan", Role.STORED),
    # The kernel sorts pairs of element and index, and reads counts.
    Kind("sort", Role.STORED, (attributes.Ordering,), extra_storages=1),
    Kind("scatter", Role.STORED, (attributes.Writing,)),
    # The kernel reads keys and their order, and writes values at block boundaries.
    Kind("accumulate", Role.STORED, extra_storages=2),
    Kind("compress", Role.STORED),
    Kind("fourier", Role.STORED, (attributes.Transform,)),
    # The kernel works on a copy of each matrix.
    Kind("factor", Role.STORED, (attributes.Factoring,), extra_storages=1),
    Kind("custom", Role.STORED, (Custom,)),
)

KINDS: dict[str, Kind] = {row.name: row for row in ROWS}
"""Every kind by name."""


def kinds_of(*roles: Role) -> frozenset[str]:
    """Return the names of the kinds that have one of the given roles."""
    return frozenset(row.name for row in ROWS if row.role in roles)
