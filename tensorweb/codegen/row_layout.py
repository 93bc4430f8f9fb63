"""How threads share rows: threads per row, and rows per workgroup."""

from __future__ import annotations

from dataclasses import dataclass
from math import log2

MOST_THREADS = 256
"""Threads of the largest workgroup, which every device supports."""

THREADS_OF_MANY = 128
"""Threads of a workgroup that has several rows."""

STEPS_OF_THREAD = ((8, 2), (32, 4))
"""Elements or vectors of a thread, by the longest row they apply to."""

MOST_STEPS_OF_THREAD = 8
"""Elements or vectors of a thread in longer rows."""

ENOUGH_THREADS = 1 << 16
"""Threads of a launch below which a thread has fewer elements, so more share a row."""

FEWER = 4
"""Divisor of the elements per thread in that case."""

FAN_IN = 16
"""Totals that one thread combines in the first level of a tree reduction.

A row of at most as many threads has no tree: each thread reads all totals.
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the threads of a workgroup share its rows.

    Attributes:
        lanes: threads of a row, a power of two.
        iterations: elements or vectors of a thread; neighbouring threads have
            neighbours.
        is_ragged: whether the last iteration is past the end of the row in some
            threads.
        together: rows of a workgroup.
        is_looped: whether iterations are a loop, because unrolling is too much code.
    """

    lanes: int
    iterations: int
    is_ragged: bool
    together: int = 1
    is_looped: bool = False

    def groups(self, rows: int) -> int:
        """Return the number of workgroups for `rows` rows."""
        return -(-rows // self.together)

    def constants(self) -> str:
        """Return the constants; a ragged loop checks bounds in every iteration."""
        inside = self.iterations - self.is_ragged
        if self.is_ragged and self.is_looped:
            inside = 0
        fan_in = FAN_IN if self.lanes > FAN_IN else 1
        return (
            f"const LANES: u32 = {self.lanes}u;\n"
            f"const TOGETHER: u32 = {self.together}u;\n"
            f"const THREADS: u32 = {self.lanes * self.together}u;\n"
            f"const ITERATIONS: u32 = {self.iterations}u;\n"
            f"const INSIDE: u32 = {inside}u;\n"
            f"const IS_UNROLLED: bool = {str(not self.is_looped).lower()};\n"
            f"const FAN_IN: u32 = {fan_in}u;\n"
            f"const SUBTREES: u32 = {self.lanes // fan_in}u;\n"
        )


def layout_of(steps: int, rows: int, of_thread: int = 0) -> Layout:
    """Return how threads share rows of `steps` elements or vectors.

    Args:
        steps: elements or vectors of a row.
        rows: number of rows.
        of_thread: elements or vectors of a thread; 0 chooses them.

    >>> layout_of(1024, 4096)
    Layout(lanes=128, iterations=8, is_ragged=False, together=1, is_looped=False)
    >>> layout_of(16, 1 << 18)
    Layout(lanes=4, iterations=4, is_ragged=False, together=32, is_looped=False)
    """
    share = of_thread or next(
        (share for most, share in STEPS_OF_THREAD if steps <= most),
        MOST_STEPS_OF_THREAD,
    )
    if rows * steps < ENOUGH_THREADS * share:
        share = max(share // FEWER, 1)
    lanes = min(1 << round(log2(max(steps / share, 1))), MOST_THREADS)
    together = max(THREADS_OF_MANY // lanes, 1)
    iterations = -(-steps // lanes)
    return Layout(lanes, iterations, iterations * lanes != steps, together)
