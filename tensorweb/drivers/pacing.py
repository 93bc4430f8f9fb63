"""How many flushes may go by before a driver waits for earlier ones.

A program that never reads submits faster than the GPU computes: its work would pile up
without bound, and nothing else, Stop included, would get through for as long. A driver
therefore marks the end of every window of flushes and waits, at the end of the next
one, until the GPU has passed the mark: two windows at most are in flight, and the GPU
always has one to work on.
"""

from __future__ import annotations

INTERVAL = 0.04
"""Seconds that a window should take, so that less than 0.1 s of work is in flight."""

FEWEST, MOST = 1, 256
"""Flushes of a window; a wait takes about as long as three flushes of small kernels."""


class Pace:
    """Counts flushes and adapts the window to the time that the last one took."""

    def __init__(self, now: float) -> None:
        """Begin with a small window at the time `now`, in seconds."""
        self._window = 4
        self._flushes = 0
        self._since = now

    def is_due(self) -> bool:
        """Count a flush, and return whether it ends a window."""
        self._flushes += 1
        return self._flushes >= self._window

    def begin_window(self, now: float) -> None:
        """Begin the next window, after a wait at the end of one."""
        wanted = self._window * INTERVAL / max(now - self._since, 1e-6)
        fair = min(round(wanted), self._window * 2)
        self._window = min(max(fair, FEWEST), MOST)
        self.drained(now)

    def drained(self, now: float) -> None:
        """Take note that nothing is in flight, as after a read."""
        self._flushes = 0
        self._since = now
