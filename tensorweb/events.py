"""Records of the kernels that devices run, passed to listeners at each flush.

Listeners belong to a thread or asyncio task. Without a listener nothing is recorded;
lines of the program and launch times are recorded only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter
from types import CodeType
from typing import NamedTuple

from tensorweb import frames
from tensorweb.frames import Line, Location
from tensorweb.graph.node import Node


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of the graph that a flush computes.

    Attributes:
        op: the operation's name, `leaf` for a value stored before the flush.
        shape: the value's shape; for a leaf the count of its elements.
        dtype: name of the dtype.
        inputs: indices of its input nodes in the flush's graph.

    >>> NodeRecord("add", (3,), "float32", (0, 1)).inputs
    (0, 1)
    """

    op: str
    shape: tuple[int, ...]
    dtype: str
    inputs: tuple[int, ...] = ()


class Traffic(NamedTuple):
    """The bytes of one storage that a launch reads or writes.

    Attributes:
        storage: index of its node in the flush's graph; a scratch storage of one kernel
            has an index beyond the nodes.
        nbytes: bytes read or written, each element once.
        why: for a value that the same flush computes, a sentence: the rule by which it
            is stored instead of computed by its reader.

    >>> Traffic(3, 4096).why
    ''
    """

    storage: int
    nbytes: int
    why: str = ""


class Split(NamedTuple):
    """A value that one launch writes and another one of its flush reads.

    Attributes:
        writer: index of the launch that writes it.
        reader: index of the launch that reads it.
        written: the storage, and the bytes written.
        read: the storage, the bytes read, and why one kernel does not do both.

    >>> Split(0, 1, Traffic(3, 4096), Traffic(3, 4096, "It is sorted.")).read.why
    'It is sorted.'
    """

    writer: int
    reader: int
    written: Traffic
    read: Traffic


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One launch. Several consecutive launches may belong to one kernel.

    Attributes:
        name: description of the kernel.
        kind: the template of the kernel, for example `reduce`.
        code: the code that the device compiled: WGSL, or a WebAssembly module. Its text
            is `source`.
        grid: workgroups along x and y; on the CPU, units of work and how many of them
            run without a pause.
        buffers: count of storages bound.
        bytes: total bytes of these storages, an upper bound of the traffic.
        nodes: indices in the flush's graph of the nodes that the kernel computes.
        outputs: indices of the nodes that it stores, ascending.
        flops: floating-point operations of the kernel, counted at its first launch:
            2·m·n·k of a matrix product, one for each term of a reduction, and the
            weights of elementwise operations; movements count none.
        loaded: bytes that the launch reads, each element once.
        stored: bytes that it writes.
        touched: bytes of the cache lines with the elements that it reads.
        flush: index of its flush, ascending.
        planned: time when the flush had its plan, in seconds of `time.perf_counter`.
        submitted: time when the flush was submitted; with `seconds` requested, time
            when the device was done.
        line: the line of the program that built its output; None if unknown.
        seconds: duration on the device; None if not requested or not available.
        device: name of the device that ran it.
        formula: the expression that the kernel computes, such as `sum(x)`; `""` if it
            is long.
        reads: the storages that it reads of other kernels, and that the launch before
            it wrote for it, if both belong to one kernel.
        writes: the storages that it writes.
        bindings: the storages that it binds, in order.
        steps: for each expression of the kernel its name and the nodes that its values
            `v0`, `v1`, … stand for, -1 for none; `core` is the reduction, product or
            the like around which the kernel is built.

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
    touched: int = 0
    flush: int = 0
    planned: float = 0.0
    submitted: float = 0.0
    line: Line | None = None
    seconds: float | None = None
    device: str = ""
    formula: str = ""
    reads: tuple[Traffic, ...] = ()
    writes: tuple[Traffic, ...] = ()
    bindings: tuple[int, ...] = ()
    steps: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def source(self) -> str:
        """The kernel's complete text; that of a WebAssembly module is built on access.

        >>> KernelRecord("add", "elementwise", "fn main() {}", (1, 1), 3, 48).source
        'fn main() {}'
        """
        return str(self.code)


@dataclass(slots=True)
class Flush:
    """The launches that one device gets in one submission.

    Attributes:
        launches: the planned launches, the same list at every flush of one plan;
            `records` adds the properties of this flush.
        graph: the nodes by index, the same list at every flush of one plan.
        number: index of the flush, ascending.
        begun: time when its nodes were given, in seconds of `time.perf_counter`.
        planned: time when it had its plan.
        encoded: time when its first tape had its buffers.
        submitted: time when it was submitted, or was done if `seconds` was requested.
        locations: where the program built each node, by its index; empty if not
            recorded.
        seconds: duration of each launch; None if not requested or not available.
        is_replay: whether it is a call of a function under `jit`.
        times: count of the flushes that this stands for, see `count_plans`.

    >>> Flush([KernelRecord("add", "elementwise", "", (1, 1), 3, 48)]).records()[0].name
    'add'
    """

    launches: Sequence[KernelRecord]
    graph: Sequence[NodeRecord] = ()
    number: int = 0
    begun: float = 0.0
    planned: float = 0.0
    encoded: float = 0.0
    submitted: float = 0.0
    locations: Sequence[Location | None] = ()
    seconds: Sequence[float] | None = None
    is_replay: bool = False
    times: int = 1

    def line(self, launch: KernelRecord) -> Line | None:
        """Return the line that built a launch's last output, else its last node."""
        if self.locations:
            for number in (*reversed(launch.outputs), *reversed(launch.nodes)):
                location = self.locations[number]
                if location is not None and (line := frames.line_of(location)):
                    return line
        return None

    def instructions(self, launch: KernelRecord) -> list[tuple[CodeType, int]]:
        """Return the different instructions that built a launch's nodes, in order."""
        if not self.locations:
            return []
        found = (self.locations[number] for number in launch.nodes)
        return list(dict.fromkeys(one[:2] for one in found if one is not None))

    def records(self) -> list[KernelRecord]:
        """Return the launches with index, times and lines of this flush."""
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


@dataclass(frozen=True, slots=True)
class Read:
    """A copy from a device to the host, after its values were submitted.

    Attributes:
        device: name of the device.
        nbytes: bytes that were copied.
        begun: time when Python began to wait, in seconds of `time.perf_counter`.
        done: time when it had the bytes.
        code, instruction: what called the library.

    >>> Read("cpu", 4, 1.0, 1.5, (lambda: None).__code__, 0).done
    1.5
    """

    device: str
    nbytes: int
    begun: float
    done: float
    code: CodeType
    instruction: int


def splits(launches: Sequence[KernelRecord]) -> Iterator[Split]:
    """Yield what the launches of one flush write for later ones, in order of reading.

    >>> writer = KernelRecord("add", "elementwise", "", (1, 1), 2, 8)
    >>> list(splits([writer]))
    []
    """
    newest: dict[int, tuple[int, Traffic]] = {}
    for reader, launch in enumerate(launches):
        for read in launch.reads:
            if read.storage in newest:
                writer, written = newest[read.storage]
                yield Split(writer, reader, written, read)
        for written in launch.writes:
            newest[written.storage] = reader, written


Listener = Callable[[Flush], None]
ReadListener = Callable[[Read], None]


_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("listeners", default=())
"""The listeners of this thread or asyncio task."""

_read_listeners: ContextVar[tuple[ReadListener, ...]] = ContextVar("reads", default=())

_is_timed: ContextVar[bool] = ContextVar("is timed", default=False)
"""Whether a listener requests the durations of launches."""

_clock: ContextVar[Callable[[], float]] = ContextVar("clock", default=float)
"""What times of flushes and reads are read from: `float`, which returns 0.0, while
nobody wants them. In Pyodide a look at the clock takes up to 0.7 µs."""

_numbers = count(1)


@contextmanager
def listening(
    listener: Listener, *, seconds: bool = False, reads: ReadListener | None = None
) -> Iterator[None]:
    """Call a function with each flush inside a `with` block, `reads` with each read.

    Flushes of asyncio tasks created in the block are included, those of other threads
    and tasks are not. With `seconds` each flush waits for the device, which reports the
    duration of every launch; browsers round it to 0.1 ms or do not report it.

    >>> with listening(print):
    ...     pass
    """
    before, readers = listeners(), _read_listeners.get()
    is_timed, before_clock = wants_seconds(), clock()
    _clock.set(perf_counter)
    _listeners.set((*before, listener))
    _read_listeners.set(readers if reads is None else (*readers, reads))
    _is_timed.set(is_timed or seconds)
    try:
        yield
    finally:
        _listeners.set(before)
        _read_listeners.set(readers)
        _is_timed.set(is_timed)
        _clock.set(before_clock)


def count_plans() -> None:
    """Let the only listener of this thread or task hear of each plan once, untimed.

    `Flush.times` counts the flushes that a report stands for. A listener that sets it
    to 0 hears of the plan again. Where it requested the durations of launches, and
    while lines are recorded, it hears of each flush.
    """
    heard = listeners()
    if len(heard) == 1 and not wants_seconds() and clock() is not float:
        _clock.set(float)
        _listeners.set((*heard,))  # another tuple, which reports are compared with


@contextmanager
def record_kernels(
    *, lines: bool = False, seconds: bool = False
) -> Iterator[list[KernelRecord]]:
    """Collect the kernels that run inside a `with` block; NumPy runs none.

    Every launch is stored; use `listening` for programs of millions of launches.

    Args:
        lines: record the lines of the program that build values inside the block, which
            makes statements a little slower.
        seconds: measure the duration of each launch; each flush waits for the device.

    >>> with record_kernels() as kernels:
    ...     pass
    >>> kernels
    []
    """
    records: list[KernelRecord] = []
    noting = frames.noting() if lines else nullcontext()
    with noting, listening(lambda f: records.extend(f.records()), seconds=seconds):
        yield records


listeners = _listeners.get
"""Return the listeners of this thread or task; a C function, called at each flush."""

clock = _clock.get
"""Return the clock of this thread or task."""

wants_seconds = _is_timed.get
"""Return whether a listener requests the durations of launches."""


def locations_of(nodes: Sequence[Node]) -> list[Location | None]:
    """Return where nodes were built; an empty list if it is recorded of no result."""
    # Values can be pending for long after the last one whose location was recorded.
    if frames.left <= 0 and not any(
        node.storage is None and hasattr(node, "location") for node in nodes
    ):
        return []
    return [getattr(node, "location", None) for node in nodes]


def report(flush: Flush) -> None:
    """Give a flush its index and pass it to all listeners."""
    flush.number = next(_numbers)
    for listener in listeners():
        listener(flush)


def report_read(device: str, nbytes: int, begun: float) -> None:
    """Pass a read that is done to all listeners."""
    if heard := _read_listeners.get():
        done, frame = perf_counter(), frames.user_frame()
        read = Read(device, nbytes, begun, done, frame.f_code, frame.f_lasti)
        for listener in heard:
            listener(read)
