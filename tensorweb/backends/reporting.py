"""Submit the tapes of a flush and report it to listeners.

Used by flushes and by functions compiled with `jit`, only if there are listeners.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tensorweb import events, frames
from tensorweb.backends.custom_kernels import capture
from tensorweb.drivers import Driver
from tensorweb.events import Flush, KernelRecord, NodeRecord
from tensorweb.frames import Location


def is_counting() -> bool:
    """Return whether one report may stand for many flushes: no times, no lines."""
    return events.clock() is float and frames.left <= 0 and capture() is None


class FlushReport(Flush):
    """One flush while somebody listens."""

    # One object for both, and no call of the other initialiser: a small flush takes
    # 15 µs, and each call here 0.2 µs of them.
    __slots__ = ("_clock", "heard_by")

    def __init__(
        self,
        launches: Sequence[KernelRecord],
        graph: Sequence[NodeRecord],
        locations: Sequence[Location | None],
        begun: float,
        is_replay: bool,
    ) -> None:
        """Begin when the flush has its plan; `begun` is when it had its nodes."""
        self.launches = launches
        self.graph = graph
        self.locations = locations
        self.begun = begun
        self.is_replay = is_replay
        self.encoded = 0.0
        self.seconds = [] if events.wants_seconds() else None
        self.times = 1
        self.heard_by = events.listeners()
        self._clock = now = events.clock()
        self.planned = now()

    def submit(self, driver: Driver, tape: array[int]) -> None:
        """Submit a tape, timed if somebody asks."""
        self.encoded = self.encoded or self._clock()
        if (found := capture()) is not None:
            tape = found.passed(driver, tape)
        if self.seconds is None:
            driver.submit(tape)
            return
        seconds = driver.submit_timed(tape)
        self.seconds = None if seconds is None else [*self.seconds, *seconds]

    def send(self) -> None:
        """Report the flush to all listeners, after its last tape was submitted."""
        self.submitted = self._clock()
        self.encoded = self.encoded or self.submitted
        events.report(self)
