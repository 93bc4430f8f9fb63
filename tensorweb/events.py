"""What devices run, told flush by flush to whoever listens.

Who listens is a matter of this thread or task of asyncio. Nothing is gathered while
nobody does; lines of the program and seconds of launches only for who asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count

from tensorweb.graph import locations
from tensorweb.graph.locations import Line
from tensorweb.graph.node import Node

__all__ = [
    "Flush",
    "KernelRecord",
    "Line",
    "NodeRecord",
    "listening",
    "record_kernels",
]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """One node of the graph that a flush computes.

    Attributes:
        op: the operation's name, `leaf` for what was stored before.
        shape: of the value; of what was stored before its number of elements.
        dtype: name of the dtype.
        inputs: numbers of the nodes that it reads.

    >>> NodeRecord("add", (3,), "float32", (0, 1)).inputs
    (0, 1)
    """

    op: str
    shape: tuple[int, ...]
    dtype: str
    inputs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One launch. Several launches in a row may be the work of one kernel.

    Attributes:
        name: the kernel in words.
        kind: the template it was made from, `reduce` for example.
        code: what the device compiled: WGSL, or a WebAssembly module. Its text is
            `source`.
        grid: workgroups along x and y; on the CPU units of work, and how many are done
            without a pause.
        buffers: number of storages bound.
        bytes: bytes of those storages together, an upper bound of the traffic.
        nodes: numbers of the nodes that the kernel computes, in the flush's graph.
        outputs: numbers of the nodes that it stores, rising.
        flops: floating-point operations of the kernel, told by its first launch:
            2·m·n·k of a matrix product, one for each term of a reduction, and the
            weights of elementwise operations; what only moves elements counts none.
        loaded: bytes that the launch reads, each element once.
        stored: bytes that it writes.
        flush: number of its flush, rising.
        planned: when the flush had its plan, in seconds of `time.perf_counter`.
        submitted: when the flush had been handed to the device; if somebody asked for
            seconds, when the device was done.
        line: of the program, where its output was built; None if it is not known.
        seconds: that the device took; None if nobody asked, or if the host cannot tell.
        device: that ran it.
        formula: what the kernel computes, such as `sum(x)`; `""` where that is long.

    >>> KernelRecord("add", "elementwise", "fn main() {}", (1, 1), 3, 48).kind
    'elementwise'
    """

    name: str
    kind: str
    code: Hashable
    grid: tuple[int, int]
    buffers: int
    bytes: int
    nodes: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    flops: int = 0
    loaded: int = 0
    stored: int = 0
    flush: int = 0
    planned: float = 0.0
    submitted: float = 0.0
    line: Line | None = None
    seconds: float | None = None
    device: str = ""
    formula: str = ""

    @property
    def source(self) -> str:
        """The kernel's complete text; of a WebAssembly module it is made here.

        >>> KernelRecord("add", "elementwise", "fn main() {}", (1, 1), 3, 48).source
        'fn main() {}'
        """
        return str(self.code)


@dataclass(slots=True)
class Flush:
    """What one device was given to run at once.

    Attributes:
        launches: as they were planned: the same list at every flush of one plan,
            without what only this flush knows; `records` has that as well.
        graph: the nodes by number, the same list at every flush of one plan.
        number: of the flush, rising.
        planned: when it had its plan, in seconds of `time.perf_counter`.
        submitted: when it had been handed to the device, or was done there if somebody
            asked for seconds.
        lines: of the program, by node number; empty if none were noted.
        seconds: of the device, by launch; None if nobody asked or the host cannot tell.

    >>> Flush([KernelRecord("add", "elementwise", "", (1, 1), 3, 48)]).records()[0].name
    'add'
    """

    launches: Sequence[KernelRecord]
    graph: Sequence[NodeRecord] = ()
    number: int = 0
    planned: float = 0.0
    submitted: float = 0.0
    lines: Sequence[Line | None] = ()
    seconds: Sequence[float] | None = None

    def line(self, launch: KernelRecord) -> Line | None:
        """Return the line that built a launch's last output, else a node inside."""
        if self.lines:
            for number in (*reversed(launch.outputs), *reversed(launch.nodes)):
                if self.lines[number] is not None:
                    return self.lines[number]
        return None

    def records(self) -> list[KernelRecord]:
        """Return the launches with what only this flush knows of them."""
        return [
            replace(
                launch,
                flush=self.number,
                planned=self.planned,
                submitted=self.submitted,
                line=self.line(launch),
                seconds=None if self.seconds is None else self.seconds[at],
            )
            for at, launch in enumerate(self.launches)
        ]


Listener = Callable[[Flush], None]


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
"""Who listens to what this thread or task of asyncio flushes."""

_is_timed: ContextVar[bool] = ContextVar("is timed", default=False)
"""Whether one of them wants to know the seconds of launches."""

_numbers = count(1)


@contextmanager
def listening(listener: Listener, *, seconds: bool = False) -> Iterator[None]:
    """Hand each flush inside a `with` block to a function.

    Flushes of other threads and of other tasks of asyncio are not of the block, those
    of tasks that it makes are. With `seconds` each flush waits for the device, which
    tells how long every launch took; browsers tell it in steps of 0.1 ms, some not at
    all.

    >>> with listening(print):
    ...     pass
    """
    listeners, is_timed = _listeners.get(), _is_timed.get()
    _listeners.set((*listeners, listener))
    _is_timed.set(is_timed or seconds)
    try:
        yield
    finally:
        _listeners.set(listeners)
        _is_timed.set(is_timed)


@contextmanager
def record_kernels(
    *, lines: bool = False, seconds: bool = False
) -> Iterator[list[KernelRecord]]:
    """Collect the kernels that run inside a `with` block; NumPy runs none.

    Every launch is kept; see `listening` for programs of millions of launches.

    Args:
        lines: note the lines of the program that build values inside the block; a
            statement takes a little longer.
        seconds: ask the device how long each launch takes; each flush waits for it.

    >>> with record_kernels() as kernels:
    ...     pass
    >>> kernels
    []
    """
    records: list[KernelRecord] = []
    noting = locations.noting() if lines else nullcontext()
    with noting, listening(lambda f: records.extend(f.records()), seconds=seconds):
        yield records


def is_heard() -> bool:
    """Whether anybody listens to what runs now."""
    return bool(_listeners.get())


def wants_seconds() -> bool:
    """Whether anybody who listens asks for the seconds of launches."""
    return _is_timed.get()


def lines_of(nodes: Sequence[Node]) -> list[Line | None]:
    """Return the lines that built nodes; an empty list when none are being noted."""
    if locations.left <= 0:
        return []
    found = [getattr(node, "location", None) for node in nodes]
    return [None if each is None else locations.line_of(each) for each in found]


def tell(flush: Flush) -> None:
    """Number a flush and hand it to everybody who listens."""
    flush.number = next(_numbers)
    for listener in _listeners.get():
        listener(flush)
