"""Kinds of operations: what the scheduler and the backends do with each.

Every table that has an entry for each kind is held to these rows by
`tests/schedule/test_kinds.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tensorweb.graph import attributes


class Role(Enum):
    """What a kind is to a kernel."""

    SOURCE = "a value that takes no work: bytes, a number, an index ramp"
    MOVEMENT = "another view of its input; never computed"
    INLINE = "computed element by element inside whatever kernel reads it"
    CHOICE = "the same, reading its inputs at shifted positions"
    CORE = "gets a kernel, which computes elementwise what follows as well"
    STORED = "gets a kernel of its own, and its result a storage"


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: a kind of operations.

    Attributes:
        name: as `Op.kind` says it.
        role: what it is to a kernel.
        attributes: the classes of `graph/attributes.py` that its nodes carry.
        cost: of one element in multiply-adds, beside its inputs; a `map` row has its
            own `weight`.
        extra_storages: how many storages its kernel binds beside inputs and result.
    """

    name: str
    role: Role
    attributes: tuple[type, ...] = ()
    cost: int = 0
    extra_storages: int = 0


LOAD_COST = 4
"""What reading one element from a storage costs, in multiply-adds."""

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
    # Elements stand beside their positions, and the kernel reads counts.
    Kind("sort", Role.STORED, (attributes.Ordering,), extra_storages=1),
    Kind("scatter", Role.STORED, (attributes.Writing,)),
    # The kernel reads keys and their order, and writes the edges of blocks.
    Kind("accumulate", Role.STORED, extra_storages=2),
    Kind("compress", Role.STORED),
    Kind("fourier", Role.STORED, (attributes.Transform,)),
    # The kernel works on a copy of each matrix.
    Kind("factor", Role.STORED, (attributes.Factoring,), extra_storages=1),
)

KINDS: dict[str, Kind] = {row.name: row for row in ROWS}
"""Every kind by name."""


def kinds_of(*roles: Role) -> frozenset[str]:
    """Return the names of the kinds with one of some roles."""
    return frozenset(row.name for row in ROWS if row.role in roles)
