"""Records of what ran on the GPU, for tests, benchmarks and the page's panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Listener = Callable[["KernelRecord"], None]

_listeners: list[Listener] = []


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
def listening(listener: Listener) -> Iterator[None]:
    """Hand every record inside a `with` block to a function, which keeps what it needs.

    >>> with listening(print):
    ...     pass
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def record_kernels() -> Iterator[list[KernelRecord]]:
    """Collect what the GPU runs inside a `with` block; nothing on other devices.

    Every launch is kept; see `listening` for programs of millions of launches.

    >>> with record_kernels() as kernels:
    ...     pass
    >>> kernels
    []
    """
    records: list[KernelRecord] = []
    with listening(lambda record: records.append(record)):
        yield records


def is_recording() -> bool:
    """Whether anybody wants records."""
    return bool(_listeners)


def record(kernel: KernelRecord) -> None:
    """Hand a record to everybody who listens."""
    for listener in _listeners:
        listener(kernel)
