"""A log of the device buffers of a run: when each is taken and freed, and for what.

Backends add the buffers that they take while a thread or task has a log; without one
the cost is a look at a context variable per flush. A log has a bounded length: from a
limit on it lists only flushes that raise the peak.

The hook by which a buffer reports its release consists of C functions, because Stop
would be swallowed in a finalizer that runs Python.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import repeat, starmap
from operator import attrgetter
from threading import get_ident
from time import perf_counter
from types import CodeType, MappingProxyType, SimpleNamespace
from typing import Any, Literal, NamedTuple, Protocol

from tensorweb.events import NodeRecord
from tensorweb.frames import Location
from tensorweb.graph.node import Node

MOST_BLOCKS = 1500
"""Limit of listed buffers, because the page draws each; beyond, a log lists only
flushes that raise the peak."""

MOST_SHORT_BLOCKS = 500
"""That limit for a program that takes a buffer every `SECONDS_A_BLOCK` or faster."""

SECONDS_A_BLOCK = 100e-6
"""Listing a buffer takes 4 µs in ordinary Python, 11 µs in the page (2 cores, EPYC): a
tenth of the time, where buffers are taken this often."""

SCRATCH = NodeRecord("", (), "")
"""Stands for a kernel's scratch storage, which no node describes."""

Use = Literal["data", "flush", "jit"]
"""What a buffer is taken for: data of the program, a flush, or calls of `jit`."""


class SharedBuffer(Protocol):
    """A buffer that can report its release."""

    handle: int

    @property
    def size(self) -> int:
        """Bytes of the buffer."""

    def when_freed(self, hook: Iterator[int]) -> None:
        """Advance an iterator once when the buffer is freed; it yields nothing."""


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


class Purpose(NamedTuple):
    """Why a group of buffers is taken: one object for all flushes of a layout.

    Attributes:
        device: name of the device.
        use: data of the program, a flush, or calls of `jit`.
        sizes: bytes of each buffer.
        served: for each buffer, the references of the storages that it contains.
        graph: the nodes of the flush. A reference below their count is the index of a
            node; other references are scratch storages.
        lifespans: by reference, the first and the last kernel that use the storage.
        results: references of the storages that outlive the flush.
        kernels: count of the flush's kernels. A flush in parts takes several groups of
            buffers; the last group has the count, the others 0.
        is_begin: whether this is the first group of its flush.
    """

    device: str
    use: Use
    sizes: Sequence[int]
    served: Sequence[Sequence[int]] = ()
    graph: Sequence[NodeRecord] = ()
    lifespans: Mapping[int, tuple[int, int]] = MappingProxyType({})
    results: Collection[int] = ()
    kernels: int = 0
    is_begin: bool = True


class Taking(NamedTuple):
    """A group of buffers that was taken, as `MemoryLog.add` notes it.

    `MemoryLog.blocks` makes a `Block` of each buffer when a program asks for them, so
    that a flush spends as little time as possible.

    Attributes:
        step: count of the run's kernels before the group.
        taken: time when the buffers were taken.
        freed: count of the releases before that.
        handles: handles of the buffers.
        purpose: what the buffers were taken for.
        locations: by node index, where the program built the node.
        value: the data of an upload, None for flushes.
    """

    step: int
    taken: float
    freed: int
    handles: Sequence[int]
    purpose: Purpose
    locations: Sequence[Location | None]
    value: Value | None


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
        references: storages of its flush that it contained, the largest first.
        flush: the group of buffers with which it was taken.
        locations: where the program built the nodes of the flush.
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
    flush: Taking | None = None
    locations: Sequence[Location | None] = ()

    def values(self) -> list[Value]:
        """Return the values that the buffer contained, in order."""
        flush = self.flush
        if flush is None:
            return []
        if flush.value is not None:
            return [flush.value]
        purpose, found = flush.purpose, []
        for reference in self.references:
            first, last = purpose.lifespans[reference]
            is_node = reference < len(purpose.graph)
            node = purpose.graph[reference] if is_node else SCRATCH
            where = self.locations[reference] if is_node and self.locations else None
            begin, end = flush.step + first, flush.step + last + 1
            stays = reference in purpose.results
            found.append(
                Value(node.op, node.shape, node.dtype, begin, end, where, stays)
            )
        return sorted(found, key=lambda value: value.begin)


Freed = tuple[int, tuple[CodeType | None, int], float]
"""The index of a block, what ran when it was freed, and when."""


@dataclass(slots=True)
class Peak:
    """The peak of one device.

    Attributes:
        before: bytes in use when the log began.
        nbytes: greatest count of bytes in use at once.
        step: count of the run's kernels before it.
        blocks: count of blocks taken until then.
        allocated: greatest count of bytes in use and free.
    """

    before: int
    nbytes: int = 0
    step: int = 0
    blocks: int = 0
    allocated: int = 0


@dataclass(slots=True)
class MemoryLog:
    """The buffers that are taken inside a `with logging_memory(log)` block.

    Attributes:
        most: limit of listed blocks; beyond, only flushes that raise the peak are.
        most_short: the limit for programs that take a buffer every `SECONDS_A_BLOCK`.
        step: count of kernels of the listed flushes.
        peaks: the peak of each device by its name.
        unlisted: count of flushes that are not listed.
        ended: time when the log was closed.

    >>> log = MemoryLog()
    >>> with logging_memory(log):
    ...     pass
    >>> log.blocks
    []
    """

    most: int = MOST_BLOCKS
    most_short: int = MOST_SHORT_BLOCKS
    step: int = 0
    peaks: dict[str, Peak] = field(default_factory=dict)
    unlisted: int = 0
    ended: float = 0.0
    _count: int = 0
    _short: int = 0
    _is_listing: bool = False
    _taken: list[tuple[Any, ...]] = field(default_factory=list)
    _freed: list[Freed] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _places: Iterator[tuple[CodeType | None, int]] = field(default=iter(()), init=False)
    _times: Iterator[float] = field(default=iter(()), init=False)

    def __post_init__(self) -> None:
        """Chain the C functions of the hooks."""
        # sys._getframe() would fail in Python 3.14: if C called the function that ends,
        # the frame that it returns is none of Python. A thread that ends may have no
        # frame, hence `nowhere`.
        nowhere = SimpleNamespace(f_code=None, f_lasti=0)
        frames = starmap(sys._current_frames, repeat(()))
        threads = starmap(get_ident, repeat(()))
        current = map(dict.get, frames, threads, repeat(nowhere))
        self._places = map(attrgetter("f_code", "f_lasti"), current)
        self._times = starmap(perf_counter, repeat(()))
        self._short = min(self.most_short, self.most)

    def close(self) -> None:
        """End the log: later releases are not listed."""
        self._blocks = self.blocks
        self.ended = perf_counter()

    @property
    def blocks(self) -> list[Block]:
        """The listed blocks, in the order in which they were taken."""
        if self.ended:
            return self._blocks
        found: list[Block] = []
        lines: dict[int, Sequence[Location | None]] = {}
        begin = 0
        for each in map(Taking._make, self._taken):
            self._free(found, begin, each.freed, each.step)
            begin, purpose = each.freed, each.purpose
            # A flush that recorded no lines has those of an earlier flush of its plan.
            where = each.locations or lines.get(id(purpose.graph), ())
            lines[id(purpose.graph)] = where
            for at, (handle, size) in enumerate(
                zip(each.handles, purpose.sizes, strict=True)
            ):
                block = Block(
                    purpose.device, handle, size, purpose.use, each.step, each.taken
                )
                block.references = purpose.served[at] if purpose.served else ()
                block.flush, block.locations = each, where
                found.append(block)
        self._free(found, begin, None, self.step)
        return found

    @property
    def flushes(self) -> int:
        """Count of flushes."""
        purposes = (Taking._make(each).purpose for each in self._taken)
        return self.unlisted + sum(each.kernels > 0 for each in purposes)

    def _free(
        self, blocks: list[Block], begin: int, end: int | None, step: int
    ) -> None:
        """Note releases `begin` to `end` in their blocks, as before kernel `step`."""
        for index, (code, instruction), time in self._freed[begin:end]:
            block = blocks[index]
            block.end, block.freed, block.after = step, time, len(blocks)
            block.code, block.instruction = code, instruction

    def lists(self, usage: Usage, purpose: Purpose) -> bool:
        """Note the bytes in use after buffers are taken; return whether to `add` them.

        A log that is full lists new peaks only, one that is closed nothing.
        """
        if self.ended:
            return False
        peak = self.peaks.get(purpose.device)
        if peak is None:
            before = max(usage.in_use - sum(purpose.sizes), 0)
            peak = self.peaks[purpose.device] = Peak(before)
        allocated, is_peak = usage.allocated, False
        if allocated > peak.nbytes:
            if allocated > peak.allocated:
                peak.allocated = allocated
            in_use = usage.in_use
            if in_use > peak.nbytes:
                peak.nbytes, is_peak = in_use, True
        count = self._count
        # A flush in parts is listed with all of them or with none.
        if purpose.is_begin:
            is_full = count >= self._short and self._is_full()
            self._is_listing = not is_full or (is_peak and count < 2 * self.most)
        if self._is_listing:
            if is_peak:
                peak.step, peak.blocks = self.step, count + len(purpose.sizes)
        elif purpose.kernels:
            self.unlisted += 1
        return self._is_listing

    def _is_full(self) -> bool:
        """Whether the limit is reached; chooses the limit at the first call."""
        if self._short < self.most:
            seconds = perf_counter() - Taking._make(self._taken[0]).taken
            if seconds > self._count * SECONDS_A_BLOCK:
                self._short = self.most
            else:
                self.most = self._short
        return self._count >= self.most

    def add(
        self,
        purpose: Purpose,
        buffers: Sequence[SharedBuffer],
        handles: Sequence[int],
        locations: Sequence[Location | None] = (),
        value: Value | None = None,
    ) -> None:
        """List a group of buffers; call it only if `lists` returned True."""
        freed, count = self._freed, self._count
        self._count = count + len(buffers)
        self._taken.append(
            (
                self.step,
                perf_counter(),
                len(freed),
                handles,
                purpose,
                locations,
                value,
            )
        )
        append, codes, times = freed.append, self._places, self._times
        for index, buffer in enumerate(buffers, count):
            # Advancing this iterator appends one entry to `freed`. `append` returns
            # None, which `filter` drops, so that the iterator yields nothing.
            release = zip((index,), codes, times)  # noqa: B905 - of one element
            buffer.when_freed(filter(None, map(append, release)))
        self.step += purpose.kernels

    def upload(
        self, device: str, usage: Usage, buffer: SharedBuffer, node: Node
    ) -> None:
        """List a buffer into which data of the host is copied."""
        purpose = Purpose(device, "data", (buffer.size,))
        if self.lists(usage, purpose):
            location = getattr(node, "location", None)
            value = Value(
                "leaf", node.shape, node.dtype.name, self.step, self.step, location
            )
            self.add(purpose, [buffer], [buffer.handle], value=value)

    def alive_at_peak(self, device: str) -> list[Block]:
        """Return the listed blocks that were in use at a device's peak."""
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
