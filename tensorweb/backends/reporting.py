"""Submit the tapes of a flush and report it to listeners, and its buffers to a log.

Used by flushes and by functions compiled with `jit`, only if there are listeners, or
a log of memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from time import perf_counter

from tensorweb import events
from tensorweb.backends.planning import Plan
from tensorweb.backends.pool import Buffer, Pool
from tensorweb.backends.trial import capture
from tensorweb.drivers import Driver
from tensorweb.events import Flush, KernelRecord, NodeRecord
from tensorweb.frames import Location
from tensorweb.memory_log import MemoryLog


class Report:
    """One flush while somebody listens."""

    __slots__ = ("_driver", "_planned", "_seconds", "_wants_seconds")

    def __init__(self, driver: Driver) -> None:
        """Begin when the flush has its plan."""
        self._driver = driver
        self._wants_seconds = events.wants_seconds()
        self._seconds: list[float] | None = [] if self._wants_seconds else None
        self._planned = perf_counter()

    def submit(self, tape: array[int]) -> None:
        """Submit a tape, timed if somebody asks."""
        if (found := capture()) is not None:
            tape = found.passed(self._driver, tape)
        if not self._wants_seconds:
            self._driver.submit(tape)
            return
        seconds = self._driver.submit_timed(tape)
        if seconds is None or self._seconds is None:
            self._seconds = None
        else:
            self._seconds += seconds

    def tell(
        self,
        launches: Sequence[KernelRecord],
        graph: Sequence[NodeRecord],
        locations: Sequence[Location | None],
    ) -> None:
        """Report the flush to all listeners after its last tape was submitted."""
        now = perf_counter()
        events.tell(
            Flush(launches, graph, 0, self._planned, now, locations, self._seconds)
        )


class MemoryReport:
    """The buffers of one flush while memory is logged."""

    __slots__ = ("_flush", "_kernels", "_log", "_pool")

    def __init__(
        self,
        log: MemoryLog,
        pool: Pool,
        plan: Plan,
        graph: Sequence[NodeRecord],
        locations: Sequence[Location | None],
    ) -> None:
        """Begin before the flush takes its buffers."""
        self._log = log
        self._pool = pool
        self._kernels = plan.kernels
        self._flush = log.begin(graph, plan.lifespans, locations)

    def take(self, buffers: Sequence[Buffer], served: Sequence[Sequence[int]]) -> None:
        """Report buffers that were taken, and the storages that each contains."""
        pool, flush = self._pool, self._flush
        self._log.take(pool.traits.device, pool, buffers, "flush", served, flush)

    def finish(self, results: Sequence[tuple[int, int]]) -> None:
        """End the flush after its last tape; `results` are references with slots."""
        self._log.finish(self._flush, self._kernels, results)
