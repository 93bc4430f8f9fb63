"""The page's record of the time of a run: flushes, reads, the costliest fault."""

from __future__ import annotations

import pytest

from tensorweb.backends.wasm import WasmBackend
from tensorweb.inspection import costs
from tensorweb.playground import bridge, policy, records
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
x = tw.realize(tw.ones((8, 8)) * 2)
for _ in range(40):
    x = x @ x * 1e-2
    x.sum().item()
"""


def timeline_of(
    source: str, *, timed: bool = False, inside: bool = False
) -> records.TimelineRecord:
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(source, timed=timed, inside=inside))
    assert answer["error"] is None
    found = bridge.drive(session.timeline())
    for plan in found["plans"]:
        names = [
            answer["kernels"][k]["device"] for k in plan["kernels"] if k is not None
        ]
        assert names == [plan["device"]] * len(plan["kernels"])
    return found


def test_flushes_and_reads_follow_each_other(wasm: WasmBackend) -> None:
    found = timeline_of(PROGRAM)
    assert len(found["flushes"]) == 41
    assert [(read["file"], read["line"], read["bytes"]) for read in found["reads"]] == [
        ("main.py", 6, 4)
    ] * 40
    last = 0.0
    for flush, read in zip(found["flushes"][1:], found["reads"], strict=True):
        times = [flush["begin"], flush["planned"], flush["encoded"], flush["end"]]
        assert sorted(times) == times
        assert last < times[0]
        assert times[-1] <= read["begin"] <= read["end"]
        last = read["end"]
    assert last < found["seconds"]
    assert found["adapter"] == wasm.description
    assert len(found["plans"]) < 10


def test_a_timed_run_has_the_seconds_of_each_launch(wasm: WasmBackend) -> None:
    found = timeline_of(PROGRAM, timed=True)
    for flush in found["flushes"]:
        launches = found["plans"][flush["plan"]]["kernels"]
        assert len(flush["seconds"]) == len(launches)
        assert sum(flush["seconds"]) <= flush["end"] - flush["encoded"]


def test_the_costliest_fault_has_its_line(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine compiling the kernels may take nearly all of the run.
    monkeypatch.setattr(costs, "LEAST_SHARE", 0)
    finding = timeline_of(PROGRAM)["finding"]
    assert finding is not None
    assert (finding["file"], finding["line"]) == ("main.py", 6)
    assert "on line 6 " in finding["text"]
    assert "`tw.jit`" in finding["text"]


def test_a_run_that_jit_does_not_record_is_not_told_to_use_it(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(costs, "LEAST_SHARE", 0)
    monkeypatch.setattr(costs, "LEAST_SECONDS", 0)
    monkeypatch.setattr(costs, "RULES", (costs.steps,))
    assert timeline_of(PROGRAM)["finding"] is not None
    assert timeline_of(PROGRAM, inside=True)["finding"] is None


def test_a_long_run_lists_its_first_flushes(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_TIMED", 10)
    found = timeline_of(PROGRAM)
    assert (len(found["flushes"]), found["unlisted"]) == (10, 31)
    assert len(found["reads"]) == 9


def test_a_long_run_of_short_flushes_lists_fewer(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_FLUSHES", 4)
    monkeypatch.setattr(policy, "LEAST_TIMED", 8)
    monkeypatch.setattr(policy, "SECONDS_A_FLUSH", 0)
    assert timeline_of(PROGRAM)["unlisted"] == 0
    monkeypatch.setattr(policy, "SECONDS_A_FLUSH", 1000)
    found = timeline_of(PROGRAM)
    assert (len(found["flushes"]), found["unlisted"]) == (8, 33)


def test_many_plans_are_not_retained(
    wasm: WasmBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "MOST_FLUSHES", 4)
    monkeypatch.setattr(policy, "MOST_TIMED_PLANS", 8)
    found = timeline_of(
        "import tensorweb as tw\n"
        "for n in range(30): tw.realize(tw.exp(tw.ones(n + 2) + n))"
    )
    assert 8 <= len(found["plans"]) < 20
    assert found["unlisted"] == 30 - len(found["flushes"])


def test_a_program_without_tensors_has_only_python(wasm: WasmBackend) -> None:
    found = timeline_of("x = sum(range(1000))")
    assert (found["flushes"], found["reads"], found["finding"]) == ([], [], None)
    assert found["seconds"] > 0
