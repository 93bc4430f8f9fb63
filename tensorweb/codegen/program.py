"""What a kernel becomes: launches with their source, grid, parameters and storages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tensorweb.schedule.kernel import Kernel

T = TypeVar("T")

OUTPUT = -1
"""Stands for the kernel's first output among a launch's storages."""

Word = int | tuple[int, str]
"""A parameter word: its bits, or (scalar slot, dtype name) to be filled per launch.

A constant of 64 bits takes two words: a zero follows it, in whose place its high word
is filled in.
"""


def output(number: int) -> int:
    """Return what stands for one of the kernel's outputs among a launch's storages.

    >>> output(0) == OUTPUT
    True
    """
    return -1 - 2 * number


def scratch(number: int) -> int:
    """Return what stands for a scratch storage among a launch's storages."""
    return -2 - 2 * number


def chosen(
    storage: int, inputs: Sequence[T], outputs: Sequence[T], scratches: Sequence[T]
) -> T:
    """Return what belongs to one of a launch's storages.

    >>> chosen(1, "ab", "cd", "ef"), chosen(output(1), "ab", "cd", "ef")
    ('b', 'd')
    >>> chosen(scratch(0), "ab", "cd", "ef")
    'e'
    """
    if storage >= 0:
        return inputs[storage]
    number, is_scratch = divmod(-1 - storage, 2)
    return scratches[number] if is_scratch else outputs[number]


@dataclass(frozen=True, slots=True)
class Launch:
    """One dispatch.

    Attributes:
        template: name of the template it was filled from.
        source: the complete WGSL without the host's header lines, or the bytes of a
            WebAssembly module.
        access: `r` or `w` for each storage.
        storages: input slots, `output(n)` or `scratch(n)`, in order of binding.
        grid: workgroups along x and y; of a module its independent units of work, and
            how many of them take about 5 ms together.
        words: the parameter block.
        note: which variant of the template it is, for people.
        is_in_order: of a module: whether one thread does its units in their order.
    """

    template: str
    source: str | bytes
    access: str
    storages: tuple[int, ...]
    grid: tuple[int, int]
    words: tuple[Word, ...]
    note: str = ""
    is_in_order: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """The launches of one kernel.

    Attributes:
        launches: in order.
        scratch_bytes: sizes of the scratch storages it needs.
        cleared: which scratch storages must start as zeros.
    """

    launches: tuple[Launch, ...]
    scratch_bytes: tuple[int, ...] = ()
    cleared: frozenset[int] = field(default_factory=frozenset)

    def check(self, kernel: Kernel) -> None:
        """Raise unless every output of the kernel is written by some launch."""
        written = {
            storage
            for launch in self.launches
            for storage, access in zip(launch.storages, launch.access, strict=True)
            if access == "w"
        }
        for number in range(len(kernel.dtypes)):
            found = output(number) in written
            assert found, f"internal: output {number} of {kernel.words} is not written"


LARGEST_GRID = 65_535
"""Workgroups along one axis of a dispatch, as every WebGPU device allows."""


def grid_of(groups: int) -> tuple[int, int]:
    """Return workgroups along x and y for a number of groups; a little more is fine.

    >>> grid_of(1000), grid_of(70000)
    ((1000, 1), (35000, 2))
    """
    if groups <= LARGEST_GRID:
        return max(groups, 1), 1
    rows = -(-groups // LARGEST_GRID)
    return -(-groups // rows), rows
