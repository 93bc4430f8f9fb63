"""The benchmarks' timing, in JavaScript and in Python, by a clock of the test's own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench import timer
from bench.timer import Timer
from tools import environment

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    command = [str(environment.node()), "tests/bench_timing.mjs"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


class Clock:
    """A clock that runs on when a test lets it, so that a busy machine is no matter."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock that the timer reads."""
    clock = Clock()
    monkeypatch.setattr(timer, "perf_counter", clock)
    return clock


def test_gpu_is_warmed_before_each_case_in_full(found: dict[str, Any]) -> None:
    before = found["calls"]
    assert before[:3] == ["quick 64", "quick 512", "quick 4096"]
    assert [before[i - 1] for i, name in enumerate(before) if name == "warm"] == [
        "quick 4096",
        "own 4096",
    ]


def test_hopeless_case_is_estimated_and_not_run(found: dict[str, Any]) -> None:
    (row,) = (row for row in found["rows"] if row["impl"] == "slow elem")
    assert "slow 4096" not in found["calls"]
    assert 512 in map(int, filter(str.isdigit, row["estimated_from"].split()))
    assert row["ms"] > 800
    assert row["err"] is None


def test_time_of_an_operation_is_found(found: dict[str, Any]) -> None:
    for impl in ("quick elem", "own elem"):
        (row,) = (row for row in found["rows"] if row["impl"] == impl)
        assert row["ms"] == pytest.approx(0.5, rel=0.2)
        assert row["ok"]


def test_timer_grows_batches_to_a_share_of_the_budget(clock: Clock) -> None:
    counts: list[int] = []
    warmed: list[int] = []

    def run(count: int) -> None:
        counts.append(count)
        clock.now += count * 2e-5

    case = Timer(0.05, lambda: None, lambda: warmed.append(len(counts)))
    result = case.measure(run, 5)
    assert warmed == [3]
    assert result["ms"] == pytest.approx(0.02, rel=0.3)
    assert all(count % 5 == 0 for count in counts)
    assert counts[-1] >= 300
    assert result["ms"] <= result["median_ms"]


def test_groups_of_long_operations_are_small(
    found: dict[str, Any], clock: Clock
) -> None:
    """Operations of 0.5 ms, 64 in a group at first, then those of 4 ms."""
    assert found["groups"][:4] == [64, 64, 64, 8]
    assert found["regroups"] == [8]
    assert all(count % 8 == 0 for count in found["groups"])
    counts: list[int] = []
    groups: list[int] = []

    def run(count: int) -> None:
        counts.append(count)
        clock.now += count * 1e-3

    Timer(0.05, lambda: None, lambda: None).measure(run, 64, groups.append)
    assert groups == [4]
    assert counts[:4] == [64, 64, 64, 4]
    assert all(count % 4 == 0 for count in counts)
    assert counts[-1] < 64


def test_timer_runs_the_hopeless_twice(clock: Clock) -> None:
    counts: list[int] = []

    def run(count: int) -> None:
        counts.append(count)
        clock.now += 0.9

    result = Timer(0.05, lambda: None, lambda: None).measure(run, 1)
    assert counts == [1, 1]
    assert result["ms"] == pytest.approx(900, rel=0.1)
