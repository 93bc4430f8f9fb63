"""What code generation needs to know of a device."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A class of device.

    Attributes:
        is_software: whether the adapter computes on the CPU, where large tiles and
            barriers cost more than they bring.
        threads: most threads of a workgroup.
        workgroup_bytes: most workgroup memory.
    """

    is_software: bool = False
    threads: int = 256
    workgroup_bytes: int = 16384


DEFAULT_TARGET = Target()
"""The least that every WebGPU device has, on a GPU."""
