"""What code generation needs to know of a device."""

from __future__ import annotations

from dataclasses import dataclass

MEASURED_CORES = 132
"""Cores of the GPU that the figures in tables were measured on, an H200."""

MOST_ACCUMULATORS = 128
"""Accumulators, one for each result, that a thread of it keeps in registers."""


@dataclass(frozen=True, slots=True)
class Target:
    """A class of device.

    Attributes:
        is_software: whether the adapter computes on the CPU, where large tiles and
            barriers cost more than they bring.
        threads: most threads of a workgroup.
        workgroup_bytes: most workgroup memory.
        cores: about how many cores share the work.
        tuned: (problem, tile) pairs that were measured on this very device and go
            before the table; see `tiles.problem_of`.
        accumulators: most results of a product that the table gives a thread.
        is_slow_to_compile: whether its compiler takes longer for loops that are
            written out, and for each word of workgroup memory, than they ever save.
        has_subgroup_matrices: whether subgroups of 32 threads multiply matrices of
            16 by 16 float16 numbers and sum them in float32.
        workarounds: files of `shaders/workarounds/` whose functions stand in for those
            of `shaders/math/` that the adapter computes wrongly.
    """

    is_software: bool = False
    threads: int = 256
    workgroup_bytes: int = 16384
    cores: int = MEASURED_CORES
    tuned: tuple[tuple[str, str], ...] = ()
    accumulators: int = MOST_ACCUMULATORS
    is_slow_to_compile: bool = False
    has_subgroup_matrices: bool = False
    workarounds: tuple[str, ...] = ()

    def scaled(self, groups: int) -> int:
        """Return how many workgroups do here what `groups` did where it was measured.

        >>> Target(cores=12).scaled(132)
        12
        """
        return max(-(-groups * self.cores // MEASURED_CORES), 1)


DEFAULT_TARGET = Target()
"""The least that every WebGPU device has, on a GPU."""
