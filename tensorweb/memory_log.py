"""A log of the device buffers of a run: when each is taken and freed, and for what.

Backends add the buffers that they take while a thread or task has a log; without one
the cost is a look at a context variable per flush. A log has a bounded length: from a
limit on it lists only flushes that raise the peak.

The hook by which a buffer reports its release consists of C functions, because Stop
would be swallowed in a finalizer that runs Python.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import repeat
from operator import attrgetter
from threading import get_ident
from time import perf_counter
from types import CodeType, SimpleNamespace
from typing import Any, Literal, NamedTuple, Protocol

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


class Planned(Protocol):
    """What a flush computes."""

    @property
    def graph(self) -> Sequence[NodeRecord]:
        """The nodes by index."""

    @property
    def lifespans(self) -> tuple[Mapping[int, tuple[int, int]], int]:
        """First and last kernel of each storage by its reference, and their count."""


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


class Flushed(NamedTuple):
    """Buffers that were taken at once, as a flush notes them: blocks are made later.

    Attributes:
        step: count of the run's kernels before it.
        taken: time when they were taken.
        freed: count of the releases before that.
        device: name of the device.
        use: what they were taken for.
        handles: of the buffers.
        requests: for each size the storages that were requested, in order.
        served: the storages that each buffer serves.
        plan: what the flush computes; None for data.
        locations: where nodes were built, by node index.
        results: references and slots of the storages that outlive the flush.
        value: the data, else None.
    """

    step: int
    taken: float
    freed: int
    device: str
    use: Use
    handles: Sequence[int]
    requests: Requests
    served: Sequence[Sequence[int]]
    plan: Planned | None
    locations: Sequence[Location | None]
    results: Sequence[tuple[int, int]]
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
        references: storages of its flush that it served, the largest first.
        flush: their lifetimes.
        locations: where the nodes of the flush were built.
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
    locations: Sequence[Location | None] = ()

    def values(self) -> list[Value]:
        """Return what it contained, in order."""
        flush = self.flush
        if flush is None:
            return []
        if flush.value is not None:
            return [flush.value]
        plan = flush.plan
        if plan is None:
            return []
        results = {reference for reference, _ in flush.results}
        found = []
        for reference in self.references:
            first, last = plan.lifespans[0][reference]
            is_node = reference < len(plan.graph)
            node = plan.graph[reference] if is_node else SCRATCH
            where = self.locations[reference] if is_node and self.locations else None
            begin, end = flush.step + first, flush.step + last + 1
            stays = reference in results
            found.append(
                Value(node.op, node.shape, node.dtype, begin, end, where, stays)
            )
        return sorted(found, key=lambda value: value.begin)


Requests = Sequence[tuple[int, Sequence[object]]]
"""For each buffer size the storages for which buffers of it are taken."""

Freed = tuple[int, tuple[CodeType | None, int], float]
"""The index of a block, what ran when it was freed, and when."""


@dataclass(slots=True)
class Peak:
    """The peak of one device.

    Attributes:
        nbytes: greatest count of bytes in use at once.
        step: count of the run's kernels before it.
        blocks: count of blocks taken until then.
        before: bytes in use when the log began.
        allocated: greatest count of bytes in use and free.
        bound: no more bytes are in use.
        counted: count of the releases that the bound takes into account.
        freed: the releases, each with the index of a block.
    """

    nbytes: int = 0
    step: int = 0
    blocks: int = 0
    before: int = 0
    allocated: int = 0
    bound: int = 0
    counted: int = 0
    freed: list[Freed] = field(default_factory=list)

    def rises(self, usage: Usage) -> bool:
        """Return whether more bytes are in use than ever, and note how many."""
        self.bound = usage.in_use
        self.counted = len(self.freed)
        is_higher = self.bound > self.nbytes
        self.nbytes = max(self.bound, self.nbytes)
        return is_higher


@dataclass(slots=True)
class MemoryLog:
    """The buffers that are taken inside a `with logging_memory(log)` block.

    Attributes:
        most: count of blocks from which on only flushes with a new peak are listed.
        step: count of kernels of the listed flushes.
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
    peaks: dict[str, Peak] = field(default_factory=dict)
    flushes: int = 0
    unlisted: int = 0
    ended: float = 0.0
    _taken: list[tuple[Any, ...]] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _blocks: list[Block] = field(default_factory=list)
    _places: Iterator[tuple[CodeType | None, int]] = field(default=iter(()), init=False)
    _times: Iterator[float] = field(default=iter(()), init=False)

    def __post_init__(self) -> None:
        """Chain the C functions of the hooks."""
        # Not sys._getframe(): where C has called the function that ends, the frame that
        # it returns is none of Python (3.14). A thread that ends may have no frame.
        nowhere = SimpleNamespace(f_code=None, f_lasti=0)
        frames, threads = iter(sys._current_frames, None), iter(get_ident, None)
        current = map(dict.get, frames, threads, repeat(nowhere))
        self._places = map(attrgetter("f_code", "f_lasti"), current)
        self._times = iter(perf_counter, None)

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
        begins = dict.fromkeys(self.peaks, 0)
        for each in map(Flushed._make, self._taken):
            self._free(found, each.device, begins[each.device], each.freed, each.step)
            begins[each.device] = each.freed
            # Where lines are not recorded it has those of its plan.
            where = each.locations or lines.get(id(each.plan), ())
            lines[id(each.plan)] = where
            sizes = [size for size, own in each.requests for _ in own]
            for at, (handle, size) in enumerate(zip(each.handles, sizes, strict=True)):
                block = Block(
                    each.device, handle, size, each.use, each.step, each.taken
                )
                block.references = each.served[at] if each.served else ()
                block.flush, block.locations = each, where
                found.append(block)
        for device, begin in begins.items():
            self._free(found, device, begin, None, self.step)
        return found

    def _free(
        self, blocks: list[Block], device: str, begin: int, end: int | None, step: int
    ) -> None:
        """Note releases in blocks, those of before the next kernel."""
        for number, (code, instruction), time in self.peaks[device].freed[begin:end]:
            block = blocks[number]
            block.end, block.freed, block.after = step, time, len(blocks)
            block.code, block.instruction = code, instruction

    def take(
        self,
        device: str,
        usage: Usage,
        buffers: Sequence[SharedBuffer],
        handles: Sequence[int],
        requests: Requests,
        use: Use,
        served: Sequence[Sequence[int]] = (),
        plan: Planned | None = None,
        locations: Sequence[Location | None] = (),
        results: Sequence[tuple[int, int]] = (),
        value: Value | None = None,
    ) -> bool:
        """List buffers that were taken, unless the log is full or closed.

        Returns whether they are listed.
        """
        if self.ended:
            return False
        peak = self.peaks.get(device)
        if peak is None:
            nbytes = sum(size * len(own) for size, own in requests)
            peak = self.peaks[device] = Peak(before=max(usage.in_use - nbytes, 0))
        sizes, freed, bound = self._sizes, peak.freed, peak.bound
        count, released = len(sizes), len(freed)
        if released > peak.counted:
            for number, _, _ in freed[peak.counted :]:
                bound -= sizes[number]
            peak.counted = released
        for size, own in requests:
            bound += size * len(own)
        peak.bound = bound
        if usage.allocated > peak.allocated:
            peak.allocated = usage.allocated
        # The pool counts its free buffers, of all sizes, for what is in use: it is only
        # asked where what was taken, less what was released, may have raised that.
        is_peak = bound > peak.nbytes and peak.rises(usage)
        if count >= self.most and not (is_peak and count < 2 * self.most):
            return False
        for size, own in requests:
            sizes += [size] * len(own)
        now = perf_counter()
        self._taken.append(
            (
                self.step,
                now,
                released,
                device,
                use,
                handles,
                requests,
                served,
                plan,
                locations,
                results,
                value,
            )
        )
        append, codes, times = freed.append, self._places, self._times
        for number, buffer in enumerate(buffers, count):
            # Of C functions: it notes one release, and yields nothing.
            one = zip((number,), codes, times)  # noqa: B905 - of one element
            buffer.when_freed(filter(None, map(append, one)))
        if is_peak:
            peak.step, peak.blocks = self.step, len(sizes)
        return True

    def finish(self, kernels: int, is_listed: bool) -> None:
        """Advance the axis by the kernels of a flush, if it is listed."""
        self.flushes += 1
        if is_listed:
            self.step += kernels
        else:
            self.unlisted += 1

    def upload(
        self, device: str, usage: Usage, buffer: SharedBuffer, node: Node
    ) -> None:
        """List a buffer that was taken for data of the host."""
        location = getattr(node, "location", None)
        value = Value(
            "leaf", node.shape, node.dtype.name, self.step, self.step, location
        )
        requests = [(buffer.size, (0,))]
        handles = [buffer.handle]
        self.take(device, usage, [buffer], handles, requests, "data", value=value)

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
