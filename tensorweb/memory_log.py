"""A log of the device buffers of a run: when each is taken and freed, and for what.

Backends add the buffers that they take while a thread or task has a log; without one
the cost is a look at a context variable per flush. A log has a bounded length: from a
limit on it lists only flushes that raise the peak.

The hook by which a buffer reports its release consists of C functions, because Stop
would be swallowed in a finalizer that runs Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from operator import attrgetter, getitem, methodcaller
from threading import get_ident
from time import perf_counter
from types import CodeType, SimpleNamespace
from typing import Any, Literal, Protocol

from tensorweb.events import NodeRecord
from tensorweb.frames import Location
from tensorweb.graph.node import Node

MOST_BLOCKS = 1500
"""Buffers from which on only flushes with a new peak are listed: a page draws them."""

SCRATCH = NodeRecord("", (), "")
"""What is known of a kernel's scratch storage."""

Use = Literal["data", "flush", "jit"]
"""What a buffer is taken for: data of the program, a flush, or calls of `jit`."""


class SharedBuffer(Protocol):
    """A buffer that can report its release."""

    handle: int

    @property
    def size(self) -> int:
        """Bytes of the buffer."""

    def when_freed(self, hook: Iterator[int]) -> None:
        """Advance an iterator of C functions, which yields nothing, at the release."""


class Usage(Protocol):
    """The memory of one device."""

    allocated: int

    @property
    def in_use(self) -> int:
        """Bytes of buffers in use."""


@dataclass(slots=True)
class Value:
    """A value in a buffer.

    Attributes:
        op: name of the operation, `""` for scratch storage of a kernel.
        shape, dtype: of the value; `()` and `""` for scratch storage.
        begin: index of the kernel of the run that computes it.
        end: index after the last kernel of its flush that needs it.
        is_result: whether it outlives the flush.
        location: where the program built it; None if unknown.
    """

    op: str
    shape: tuple[int, ...]
    dtype: str
    begin: int
    end: int
    location: Location | None
    is_result: bool = True


@dataclass(slots=True)
class Flushed:
    """What the blocks of one flush share.

    Attributes:
        step: count of the run's kernels before it.
        spans: first and last kernel of each storage by its reference.
        graph: the nodes by index, the same list at every flush of one plan.
        locations: where nodes were built, by node index.
        is_listed: whether its kernels are on the axis of the log.
        results: references and slots of the storages that outlive the flush.
    """

    step: int
    spans: Mapping[int, tuple[int, int]]
    graph: Sequence[NodeRecord]
    locations: Sequence[Location | None]
    is_listed: bool
    results: Sequence[tuple[int, int]] = ()


@dataclass(slots=True)
class Block:
    """One buffer, from the time it is taken to its release.

    Attributes:
        device: name of the device.
        handle: the buffer's handle; another buffer may get it after the release.
        nbytes: bytes of the buffer.
        use: what it was taken for.
        begin: count of the run's kernels before it was taken.
        taken: time when it was taken, in seconds of `time.perf_counter`.
        end: count of kernels before it was freed; None if it is alive.
        freed: time when it was freed.
        after: count of blocks taken before it was freed.
        code, instruction: what ran when its last reference was dropped.
        references: storages of its flush that it served, the largest first.
        flush: their lifetimes; None for data.
        value: the data, else None.
    """

    device: str
    handle: int
    nbytes: int
    use: Use
    begin: int
    taken: float
    end: int | None = None
    freed: float | None = None
    after: int = sys.maxsize
    code: CodeType | None = None
    instruction: int = 0
    references: Sequence[int] = ()
    flush: Flushed | None = None
    value: Value | None = None

    def values(self) -> list[Value]:
        """Return what it contained, in order."""
        if self.value is not None:
            return [self.value]
        flush = self.flush
        if flush is None:
            return []
        results = {reference for reference, _ in flush.results}
        found = []
        for reference in self.references:
            first, last = flush.spans[reference]
            is_node = reference < len(flush.graph)
            node = flush.graph[reference] if is_node else SCRATCH
            where = flush.locations[reference] if is_node and flush.locations else None
            begin, end = flush.step + first, flush.step + last + 1
            stays = reference in results
            found.append(
                Value(node.op, node.shape, node.dtype, begin, end, where, stays)
            )
        return sorted(found, key=lambda value: value.begin)


@dataclass(slots=True)
class Peak:
    """The peak of one device.

    Attributes:
        nbytes: greatest count of bytes in use at once.
        step: count of the run's kernels before it.
        blocks: count of blocks taken until then.
        before: bytes in use when the log began.
        allocated: greatest count of bytes in use and free.
    """

    nbytes: int = 0
    step: int = 0
    blocks: int = 0
    before: int = 0
    allocated: int = 0


@dataclass(slots=True)
class MemoryLog:
    """The buffers that are taken inside a `with logging_memory(log)` block.

    Attributes:
        most: count of blocks from which on only flushes with a new peak are listed.
        step: count of kernels of the listed flushes.
        blocks: the listed blocks, in the order in which they were taken.
        peaks: by device.
        flushes: count of flushes.
        unlisted: count of flushes that are not listed.
        ended: time when the log was closed.

    >>> log = MemoryLog()
    >>> with logging_memory(log):
    ...     pass
    >>> log.blocks
    []
    """

    most: int = MOST_BLOCKS
    step: int = 0
    blocks: list[Block] = field(default_factory=list)
    peaks: dict[str, Peak] = field(default_factory=dict)
    flushes: int = 0
    unlisted: int = 0
    ended: float = 0.0
    _freed: list[Any] = field(default_factory=list)
    _lines: dict[int, tuple[object, Sequence[Location | None]]] = field(
        default_factory=dict
    )
    _holder: SimpleNamespace = field(default_factory=SimpleNamespace)
    _places: Iterator[tuple[CodeType | None, int]] = field(default=iter(()), init=False)
    _times: Iterator[float] = field(default=iter(()), init=False)

    def __post_init__(self) -> None:
        """Chain the C functions of the hooks."""
        # Not sys._getframe(): where C has called the function that ends, the frame that
        # it returns is none of Python (3.14).
        current = map(getitem, iter(sys._current_frames, None), iter(get_ident, None))
        self._holder.frame = partial(next, current)
        nowhere = SimpleNamespace(f_code=None, f_lasti=0)
        self._holder.nowhere = nowhere
        frames = iter(partial(methodcaller("frame"), self._holder), None)
        self._places = map(attrgetter("f_code", "f_lasti"), frames)
        self._times = iter(perf_counter, None)

    def close(self) -> None:
        """End the search for the line of a release: later ones may have no frame."""
        self._fold()
        self.ended = perf_counter()
        self._holder.frame = partial(getattr, self._holder, "nowhere")

    def begin(
        self,
        graph: Sequence[NodeRecord],
        spans: Mapping[int, tuple[int, int]],
        locations: Sequence[Location | None],
    ) -> Flushed:
        """Begin a flush; where lines are not recorded it has those of its plan."""
        self.flushes += 1
        is_listed = len(self.blocks) < self.most
        if locations:
            self._lines.setdefault(id(graph), (graph, locations))
        elif known := self._lines.get(id(graph)):
            locations = known[1]
        return Flushed(self.step, spans, graph, locations, is_listed)

    def finish(
        self, flush: Flushed, kernels: int, results: Sequence[tuple[int, int]]
    ) -> None:
        """Advance the axis by the kernels of a flush, if it is listed."""
        flush.results = results
        if flush.is_listed:
            self.step += kernels
        else:
            self.unlisted += 1

    def take(
        self,
        device: str,
        usage: Usage,
        buffers: Sequence[SharedBuffer],
        use: Use,
        served: Sequence[Sequence[int]] = (),
        flush: Flushed | None = None,
        value: Value | None = None,
    ) -> None:
        """List buffers that were taken, unless the log is full or closed."""
        if self.ended:
            return
        self._fold()
        peak = self.peaks.get(device)
        if peak is None:
            before = usage.in_use - sum(buffer.size for buffer in buffers)
            peak = self.peaks[device] = Peak(before=max(before, 0))
        allocated = usage.allocated
        peak.allocated = max(peak.allocated, allocated)
        in_use = usage.in_use if allocated > peak.nbytes else 0
        blocks = self.blocks
        is_peak = in_use > peak.nbytes
        count = len(blocks)
        if count >= self.most and not (is_peak and count < 2 * self.most):
            if is_peak:
                peak.nbytes, peak.step, peak.blocks = in_use, self.step, count
            return
        if flush is not None:
            flush.is_listed = True
        now = perf_counter()
        for index, buffer in enumerate(buffers):
            block = Block(device, buffer.handle, buffer.size, use, self.step, now)
            if served:
                block.references = served[index]
            block.flush, block.value = flush, value
            buffer.when_freed(self._hook(len(blocks)))
            blocks.append(block)
        if is_peak:
            peak.nbytes, peak.step, peak.blocks = in_use, self.step, len(blocks)

    def upload(
        self, device: str, usage: Usage, buffer: SharedBuffer, node: Node
    ) -> None:
        """List a buffer that was taken for data of the host."""
        location = getattr(node, "location", None)
        value = Value(
            "leaf", node.shape, node.dtype.name, self.step, self.step, location
        )
        self.take(device, usage, [buffer], "data", value=value)

    def _hook(self, number: int) -> Iterator[int]:
        """Return an iterator that notes a release: instruction, time, block."""
        parts = chain(islice(self._places, 1), islice(self._times, 1), (number,))
        extend: Callable[[], Any] = partial(self._freed.extend, parts)
        return iter(extend, None)

    def _fold(self) -> None:
        """Note the releases since the last look, before the next kernel."""
        freed = self._freed
        count = len(freed) // 3 * 3
        if not count:
            return
        noted = iter(freed[:count])
        del freed[:count]
        for (code, instruction), time, number in zip(noted, noted, noted, strict=True):
            block = self.blocks[number]
            block.end, block.freed, block.after = self.step, time, len(self.blocks)
            block.code, block.instruction = code, instruction

    def alive_at_peak(self, device: str) -> list[Block]:
        """Return the listed blocks that were in use at a device's peak."""
        if not self.ended:
            self._fold()
        peak = self.peaks[device]
        return [
            block
            for block in self.blocks[: peak.blocks]
            if block.device == device and block.after >= peak.blocks
        ]


_log: ContextVar[MemoryLog | None] = ContextVar("memory log", default=None)
"""The log of this thread or asyncio task."""


@contextmanager
def logging_memory(log: MemoryLog) -> Iterator[None]:
    """Log the buffers that are taken inside a `with` block."""
    before = _log.get()
    _log.set(log)
    try:
        yield
    finally:
        _log.set(before)
        log.close()


memory_log = _log.get
"""Return the log of this thread or task, None if it has none."""
