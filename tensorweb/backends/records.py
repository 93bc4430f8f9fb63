"""Records of what ran on the GPU, for tests, benchmarks and the page's panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

Listener = Callable[[Sequence["KernelRecord"]], None]
"""Is given the records of one flush; every flush of a plan gives the same list."""

_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
"""Who listens to what this thread or task of asyncio flushes."""


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
    """Hand the records of each flush inside a `with` block to a function.

    Flushes of other threads and of other tasks of asyncio are not of the block, those
    of tasks that it makes are.

    >>> with listening(print):
    ...     pass
    """
    before = _listeners.get()
    _listeners.set((*before, listener))
    try:
        yield
    finally:
        _listeners.set(before)


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
    with listening(lambda launched: records.extend(launched)):
        yield records


def record(launched: Sequence[KernelRecord]) -> None:
    """Hand the records of one flush to everybody who listens."""
    for listener in _listeners.get():
        listener(launched)
