"""Submit the tapes of a flush, and tell those who listen what it was.

Used by flushes and by recordings of `jit`. Made only when somebody listens.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from time import perf_counter

from tensorweb import events
from tensorweb.drivers import Driver
from tensorweb.events import Flush, KernelRecord, Line, NodeRecord


class Report:
    """One flush while somebody listens."""

    def __init__(self, driver: Driver) -> None:
        """Begin when the flush has its plan."""
        self._driver = driver
        self._planned = self._submitted = perf_counter()
        self._wants_seconds = events.wants_seconds()
        self._seconds: list[float] | None = [] if self._wants_seconds else None

    def submit(self, tapes: Iterable[array[int]]) -> None:
        """Submit all tapes, timed if somebody asks."""
        for tape in tapes:
            if not self._wants_seconds:
                self._driver.submit(tape)
                continue
            seconds = self._driver.submit_timed(tape)
            if seconds is None or self._seconds is None:
                self._seconds = None
            else:
                self._seconds += seconds
        self._submitted = perf_counter()

    def tell(
        self,
        launches: Sequence[KernelRecord],
        graph: Sequence[NodeRecord],
        lines: Sequence[Line | None],
    ) -> None:
        """Hand it to everybody who listens."""
        flush = Flush(
            launches, graph, 0, self._planned, self._submitted, lines, self._seconds
        )
        events.tell(flush)
