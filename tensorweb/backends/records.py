"""Records of what ran on the GPU, for tests, benchmarks and the page's panels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_recorders: list[list[KernelRecord]] = []


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One launch.

    Attributes:
        name: the kernel in words.
        kind: the template it was made from, `reduce` for example.
        source: the complete WGSL.
        grid: workgroups along x and y.
        buffers: number of storages bound.
        bytes: bytes of those storages together, an upper bound of the traffic.

    >>> KernelRecord("add", "elementwise", "fn main() {}", (1, 1), 3, 48).kind
    'elementwise'
    """

    name: str
    kind: str
    source: str
    grid: tuple[int, int]
    buffers: int
    bytes: int


@contextmanager
def record_kernels() -> Iterator[list[KernelRecord]]:
    """Collect what the GPU runs inside a `with` block; nothing on other devices.

    >>> with record_kernels() as kernels:
    ...     pass
    >>> kernels
    []
    """
    records: list[KernelRecord] = []
    _recorders.append(records)
    try:
        yield records
    finally:
        for place, other in enumerate(_recorders):
            if other is records:
                del _recorders[place]
                break


def is_recording() -> bool:
    """Whether anybody wants records."""
    return bool(_recorders)


def record(kernel: KernelRecord) -> None:
    """Hand a record to everybody who listens."""
    for records in _recorders:
        records.append(kernel)
