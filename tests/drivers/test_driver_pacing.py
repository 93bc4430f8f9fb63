"""Pacing: how many flushes go by before a driver waits, by a clock of our own."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tensorweb.drivers.browser import Pace
from tensorweb.drivers.policy import LARGEST_WINDOW, WINDOW_SECONDS


def windows(costs: list[float]) -> list[int]:
    """Return the flushes of each window, where a flush takes `seconds`."""
    now, count, found = 0.0, 0, []
    pace = Pace(now)
    for cost in costs:
        now += cost
        count += 1
        if pace.is_due():
            pace.begin_window(now)
            found.append(count)
            count = 0
    return found


@pytest.mark.parametrize("cost", [0.001, 0.005, 0.02])
def test_window_finds_its_interval(cost: float) -> None:
    assert windows([cost] * 2000)[-1] * cost == pytest.approx(WINDOW_SECONDS, rel=0.3)


def test_slow_flushes_are_waited_for_one_by_one() -> None:
    assert windows([0.5] * 20)[-1] == 1


def test_quick_flushes_are_seldom_waited_for() -> None:
    assert len(windows([20e-6] * 5000)) < 30


def test_window_shrinks_soon_when_flushes_become_slow() -> None:
    found = windows([50e-6] * 3000 + [0.01] * 600)
    longest = len(found) - found[::-1].index(max(found))
    assert max(found[longest + 1 :]) * 0.01 <= 2 * WINDOW_SECONDS


def test_window_has_a_longest_length_and_doubles_at_most() -> None:
    found = windows([1e-9] * 3000)
    assert max(found) == LARGEST_WINDOW
    assert all(b <= 2 * a for a, b in pairwise(found))


def test_a_read_begins_a_new_window() -> None:
    pace = Pace(0.0)
    for now in range(100):
        assert not pace.is_due()
        pace.drained(float(now))
