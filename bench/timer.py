"""Times what runs from Python, by the rules of `js/timing.mjs`: natively, in PyTorch.

Enqueues operations in batches that fill a fifth of the budget after the GPU was kept
busy; the best batch is the time. Knows no library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

HOPELESS_SECONDS = 0.8
SHARES = 5
MOST_PER_BATCH = 4000
MOST_GROWTH = 16
FEWEST_BATCHES = 3
GROUP_SECONDS = 0.004


@dataclass
class Timer:
    """Times something that enqueues operations, within about `budget` seconds.

    Attributes:
        budget: seconds of batches a case.
        wait: returns when the GPU has finished.
        warm: keeps the GPU busy for a while and waits.
    """

    budget: float
    wait: Callable[[], None]
    warm: Callable[[], None]

    def measure(
        self,
        run: Callable[[int], None],
        group: int,
        regroup: Callable[[int], None] | None = None,
    ) -> dict[str, float]:
        """Return milliseconds per operation: best and median batch, one alone, cold.

        `regroup` makes smaller groups where operations are long, so that the GPU does
        not wait for a whole group.
        """
        cold = self.timed(run, group)
        if cold < HOPELESS_SECONDS * group:
            self.timed(run, group)
        single = self.timed(run, group)
        found = {"cold_ms": cold * 1e3, "single_ms": single * 1e3}
        one = single / group
        if one > HOPELESS_SECONDS:
            return {**found, "ms": one * 1e3, "median_ms": one * 1e3}
        fitting = math.ceil(GROUP_SECONDS / one)
        if regroup is not None and fitting < group:
            group = fitting
            regroup(group)
            self.timed(run, group)  # plans it
        self.warm()
        count = self._fitting_count(run, group)
        batches: list[float] = []
        started = perf_counter()
        while True:
            batches.append(self.timed(run, count) / count)
            spent = perf_counter() - started
            is_enough = len(batches) >= FEWEST_BATCHES and spent > self.budget
            if is_enough or spent > 4 * self.budget:
                break
        batches.sort()
        middle = batches[len(batches) // 2]
        return {**found, "ms": batches[0] * 1e3, "median_ms": middle * 1e3}

    def timed(self, run: Callable[[int], None], count: int) -> float:
        """Return the seconds of `count` operations and the wait for them."""
        start = perf_counter()
        run(count)
        self.wait()
        return perf_counter() - start

    def _fitting_count(self, run: Callable[[int], None], group: int) -> int:
        """Return how many operations fill a share of the budget."""
        target = self.budget / SHARES
        most = max(1, MOST_PER_BATCH // group)
        groups = 1
        while True:
            spent = self.timed(run, groups * group)
            if spent >= target or groups == most:
                return groups * group
            growth = min(MOST_GROWTH, 1.1 * target / max(spent, 1e-5))
            groups = min(most, math.ceil(groups * growth))
