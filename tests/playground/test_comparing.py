"""The values of two runs compared bit by bit."""

from __future__ import annotations

from typing import Any

import pytest

from tensorweb.playground import bridge, policy
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
b = None
same = tw.asarray([tw.nan, 1.0, -0.0])
sizes = tw.arange(6)
z = tw.asarray([[0.0, {zero}], [{one}, {bad}]])
n = sizes + {step}
h = tw.asarray([1.0, {one}], dtype=tw.float16)
c = tw.asarray([1 + 2j, {one} + 1j])
b = n > 2
"""

FIRST = {"zero": "0.0", "one": "1.0", "bad": "tw.nan", "step": 0}


def compared(
    second: dict[str, object], first: dict[str, object] = FIRST
) -> tuple[Session, dict[str, Any]]:
    session = Session(lambda kind, fields: None, None, True)
    for values in (first, second):
        bridge.drive(session.run(PROGRAM.format(**values), "cpu", compare=True))
        bridge.drive(session.describe())
    return session, dict(bridge.drive(session.differences()))


def test_equal_runs_have_no_difference() -> None:
    _, found = compared(FIRST)
    assert found["differences"] == []
    assert (found["same"], found["leftOut"]) == (7, [])


def test_differences_are_counted_measured_and_ordered() -> None:
    session, found = compared(
        {"zero": "-0.0", "one": "1.0 + 2**-9", "bad": "-tw.nan", "step": 2}
    )
    facts = [
        tuple(one[key] for key in ("name", "differing", "largest", "ulps", "index"))
        for one in found["differences"]
    ]
    assert facts == [
        ("z", 2, 2**-9, 2.0**14, [1, 0]),
        ("n", 6, 2.0, None, [0]),
        ("h", 1, 2**-9, 2.0, [1]),
        ("c", 1, 2**-9, None, [1]),
        ("b", 2, 1.0, None, [1]),
    ]
    first = found["differences"][0]
    assert (first["before"], first["now"]) == ("1", "1.0019531")
    mask = bridge.drive(session.text(first["mask"]))["text"]
    assert mask == "tensor([[0., 1.],\n        [1., 0.]])"


def test_infinite_differences_have_an_index_and_no_size() -> None:
    _, found = compared(FIRST | {"one": "tw.inf"})
    z = found["differences"][0]
    assert (z["index"], z["now"]) == ([1, 0], "inf")
    assert (z["largest"], z["ulps"]) == (None, None)


def test_values_beyond_the_budget_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "MOST_COMPARED_BYTES", 40)
    _, found = compared(FIRST | {"step": 1})
    assert "n" in found["leftOut"]
    assert found["budget"] == 40


def test_a_kept_run_is_compared_with_every_later_one() -> None:
    session, _ = compared(FIRST)
    bridge.drive(session.keep_values(True))
    for step in (1, 2):
        source = PROGRAM.format(**FIRST | {"step": step})
        bridge.drive(session.run(source, "cpu", compare=True))
        bridge.drive(session.describe())
        found = bridge.drive(session.differences())
        assert found["differences"][0]["largest"] == step
    # A run of which a panel asks something is not one of the two.
    bridge.drive(session.keep_values(False))
    bridge.drive(session.run(source, "cpu", compare=True, search=True))
    bridge.drive(session.describe())
    assert bridge.drive(session.differences())["differences"][0]["largest"] == 2


def test_a_run_that_is_not_compared_retains_nothing() -> None:
    session, _ = compared(FIRST)
    bridge.drive(session.run(PROGRAM.format(**FIRST), "cpu"))
    bridge.drive(session.describe())
    assert not bridge.drive(session.differences())["isRetained"]
