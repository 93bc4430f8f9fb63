"""Properties of a device that code generation depends on."""

from __future__ import annotations

from dataclasses import dataclass

from tensorweb.codegen import policy


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
