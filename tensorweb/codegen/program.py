"""Compiled kernels, launches and their buffers, and what they know of the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tensorweb.codegen import policy
from tensorweb.schedule.kernel import Kernel

T = TypeVar("T")

OUTPUT = -1
"""Id of a kernel's first output among the buffers of a launch."""

Word = int | tuple[int, str]
"""A parameter word: its bits, or (scalar slot, dtype name) to be filled per launch.

A constant of 64 bits takes two words: its high word replaces the zero after it.
"""


def ceil_divide(length: int, size: int) -> int:
    """Return how many pieces of length `size` cover a length."""
    return -(-length // size)


def output(index: int) -> int:
    """Return the id of one of a kernel's outputs among the buffers of a launch.

    >>> output(0) == OUTPUT
    True
    """
    return -1 - 2 * index


def scratch(index: int) -> int:
    """Return the id of a scratch buffer among the buffers of a launch."""
    return -2 - 2 * index


class ScratchBuffers:
    """The scratch buffers of a program under construction.

    Attributes:
        nbytes: their sizes.
    """

    def __init__(self) -> None:
        self.nbytes: list[int] = []

    def add(self, words: int) -> int:
        """Return the id of a new buffer of 32-bit words."""
        self.nbytes.append(words * 4)
        return scratch(len(self.nbytes) - 1)


def buffer_of(
    storage: int, inputs: Sequence[T], outputs: Sequence[T], scratches: Sequence[T]
) -> T:
    """Return the item for one buffer of a launch: an input, an output or scratch.

    >>> buffer_of(1, "ab", "cd", "ef"), buffer_of(output(1), "ab", "cd", "ef")
    ('b', 'd')
    >>> buffer_of(scratch(0), "ab", "cd", "ef")
    'e'
    """
    if storage >= 0:
        return inputs[storage]
    index, is_scratch = divmod(-1 - storage, 2)
    return scratches[index] if is_scratch else outputs[index]


@dataclass(frozen=True, slots=True)
class Launch:
    """One dispatch.

    Attributes:
        template: name of the template it was filled from.
        source: the complete WGSL without the backend's header lines, or the bytes of a
            WebAssembly module.
        access: `r` or `w` for each buffer.
        storages: input slots, `output(n)` or `scratch(n)`, in order of binding.
        grid: workgroups along x and y; for a module its independent work units, and
            how many of them take about 5 ms together.
        words: the parameter block.
        note: the variant of the template, for diagnostics.
        is_in_order: for a module: whether one thread must run its work units in order.
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
        launches: in order of execution.
        scratch_bytes: sizes of the scratch buffers.
        cleared: indices of the scratch buffers that must start as zeros.
        clears_outputs: whether the outputs must start as zeros.
    """

    launches: tuple[Launch, ...]
    scratch_bytes: tuple[int, ...] = ()
    cleared: frozenset[int] = field(default_factory=frozenset)
    clears_outputs: bool = False

    def check(self, kernel: Kernel) -> None:
        """Raise AssertionError unless some launch writes every output of the kernel."""
        written = {
            storage
            for launch in self.launches
            for storage, access in zip(launch.storages, launch.access, strict=True)
            if access == "w"
        }
        for index in range(len(kernel.dtypes)):
            message = f"internal: output {index} of {kernel.words} is not written"
            assert output(index) in written, message


LARGEST_GRID = 65_535
"""Workgroups along one axis of a dispatch that every WebGPU device supports."""


def grid_of(groups: int) -> tuple[int, int]:
    """Return a grid (x, y) of at least `groups` workgroups.

    >>> grid_of(1000), grid_of(70000)
    ((1000, 1), (35000, 2))
    """
    if groups <= LARGEST_GRID:
        return max(groups, 1), 1
    rows = ceil_divide(groups, LARGEST_GRID)
    return ceil_divide(groups, rows), rows


def workgroups(threads: int) -> int:
    """Return how many workgroups of `policy.WORKGROUP` lanes have enough threads."""
    return ceil_divide(threads, policy.WORKGROUP)


@dataclass(frozen=True, slots=True)
class Target:
    """A class of devices.

    Attributes:
        is_software: whether the adapter runs on the CPU, where large tiles and barriers
            cost more than they save.
        threads: largest number of threads of a workgroup.
        workgroup_bytes: largest size of workgroup memory.
        cores: approximate number of cores.
        tuned: (problem, tile) pairs measured on this device, which take precedence over
            the table; see `tiles.problem_of`.
        accumulators: largest number of results of a product per thread.
        is_slow_to_compile: whether unrolled loops and workgroup memory cost more
            compile time than they ever save.
        has_subgroup_matrices: whether subgroups of 32 threads multiply 16 by 16
            matrices of float16 and accumulate in float32.
        workarounds: files of `shaders/workarounds/` whose functions replace those of
            `shaders/math/` that the adapter miscomputes.
    """

    is_software: bool = False
    threads: int = 256
    workgroup_bytes: int = 16384
    cores: int = policy.MEASURED_CORES
    tuned: tuple[tuple[str, str], ...] = ()
    accumulators: int = policy.MOST_ACCUMULATORS
    is_slow_to_compile: bool = False
    has_subgroup_matrices: bool = False
    workarounds: tuple[str, ...] = ()

    def scaled(self, groups: int) -> int:
        """Return a count of workgroups that was measured on an H200, for this device.

        >>> Target(cores=12).scaled(132)
        12
        """
        return max(-(-groups * self.cores // policy.MEASURED_CORES), 1)


DEFAULT_TARGET = Target()
"""The limits that every WebGPU device supports, on a GPU."""
