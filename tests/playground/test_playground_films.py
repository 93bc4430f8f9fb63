"""The values of a name over the iterations of a loop."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.playground import bridge, policy
from tensorweb.playground.films import Film
from tensorweb.playground.session import Session, handlers

PROGRAM = """
import tensorweb as tw
x = tw.asarray([1.0, 2.0])
for i in range(100):
    x = x * 0.5
"""


TRACED = """
import tensorweb as tw
@tw.jit
def f(x):
    y = x * 2
    return y
for i in range(3):
    a = f(tw.ones(3))
b = tw.vmap(lambda row: f(row) + 1)(tw.ones((2, 3)))
"""


def ran(device: str, **how: Any) -> tuple[Any, Any]:
    session = Session(lambda kind, fields: None, None, True)
    table: Any = handlers(session)
    record = bridge.drive(table["run"](PROGRAM, device, **how))
    assert record["error"] is None
    bridge.drive(table["describe"]())
    return table, [one["line"] for one in record["lines"]].index(5)


def test_each_iteration_is_a_step(device: str) -> None:
    table, result = ran(device, inside=True)
    film = bridge.drive(table["film"](result))["steps"]
    assert [one["step"] for one in film] == list(range(100))
    assert [one["tensor"]["max"] for one in film[:3]] == [1.0, 0.5, 0.25]
    ids = [one["tensor"]["id"] for one in film]
    assert len(set(ids)) == 100
    pair = bridge.drive(table["pair"](ids[0], ids[1]))
    assert pair["difference"]["max"] == 0.5
    why = bridge.drive(table["why"](ids[1], [1]))
    assert [row["text"] for row in why["rows"]] == ["1·0.5 = 0.5"]


def test_values_of_a_recorded_function_are_no_steps(cpu: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    table: Any = handlers(session)
    record = bridge.drive(table["run"](TRACED, cpu, inside=True))
    assert record["error"] is None
    steps = {
        line["line"]: bridge.drive(table["film"](index))["steps"]
        for index, line in enumerate(record["lines"])
    }
    assert (len(steps[8]), len(steps[9])) == (3, 1)
    assert all(
        "problem" not in step["tensor"] for film in steps.values() for step in film
    )


def test_a_histogram_has_a_column_for_each_step(device: str) -> None:
    table, result = ran(device, inside=True)
    histogram = bridge.drive(table["film"](result))["histogram"]
    assert histogram["shape"] == [policy.FILM_BINS, 100]
    counts = bridge.drive(
        table["cells"](histogram["id"], 0, 1, [0, 0], [0, 0, policy.FILM_BINS, 2])
    )["texts"]
    first, second = (
        [row for row, cells in enumerate(counts) if cells[n] != "0"] for n in (0, 1)
    )
    # Of (0.5, 1) and (0.25, 0.5), 1 is the largest value of all.
    assert first == [0, policy.FILM_BINS // 2]
    assert second == [policy.FILM_BINS // 2, policy.FILM_BINS * 3 // 4]


TRAINED = """
import tensorweb as tw
def loss(w):
    h = x @ w
    return ((h - 1) ** 2).mean()
x = tw.reshape(tw.arange(12.0), (4, 3)) / 12
w = tw.ones((3, 1))
for i in range(60):
    w = w - 0.1 * tw.grad(loss)(w)
    if i % 5 == 0:
        print(w.tolist())
"""


def test_a_film_leaves_the_kernels_of_the_program_as_they_are(
    webgpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is thinned would be referred to otherwise at each flush."""
    monkeypatch.setattr(policy, "MOST_FILM_STEPS", 8)
    output: list[str] = []

    def ran(inside: bool) -> tuple[Any, Any]:
        session = Session(lambda kind, fields: output.append(str(fields)), None, True)
        table: Any = handlers(session)
        record = bridge.drive(table["run"](TRAINED, webgpu, inside=inside))
        assert record["error"] is None
        kernels = [(one["name"], one["count"]) for one in record["kernels"]]
        names = [(one["line"], one["name"]) for one in record["lines"]]
        return table, (kernels, names)

    _, plain = ran(False)
    table, found = ran(True)
    assert found == plain
    # Values that no kernel stored are computed for the film.
    steps = bridge.drive(table["film"](found[1].index((9, "w"))))["steps"]
    assert [one["step"] for one in steps[:3]] == [0, 8, 16]
    printed = re.findall(r"\[\[.*?\]\]", "".join(output))
    values = json.loads(printed[8])
    (fortieth,) = (one for one in steps if one["step"] == 40)
    assert fortieth["tensor"]["max"] == pytest.approx(max(values)[0])
    h = bridge.drive(table["film"](found[1].index((4, "h"))))["steps"]
    assert [one["step"] for one in h[:3]] == [0, 8, 16]


def test_values_that_nothing_needs_are_in_a_film(device: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    table: Any = handlers(session)
    source = "import tensorweb as tw\nfor i in range(9):\n    y = tw.ones(2) * i\n"
    record = bridge.drive(table["run"](source, device, inside=True))
    assert record["error"] is None
    film = bridge.drive(table["film"](0))["steps"]
    assert [one["tensor"]["max"] for one in film] == [*range(9)]


def test_other_runs_retain_no_values(device: str) -> None:
    table, result = ran(device)
    with pytest.raises(LookupError):
        bridge.drive(table["film"](result))


def test_a_long_film_is_thinned_and_keeps_its_last_value() -> None:
    film = Film()
    for value in range(1001):
        film.add(tw.asarray(float(value)))
    steps = film.steps()
    assert len(steps) <= policy.MOST_FILM_STEPS + 1
    numbers = [number for number, _ in steps]
    assert (numbers[0], numbers[-1]) == (0, 1000)
    assert {b - a for a, b in pairwise(numbers)} == {8}
    assert [x.item() for _, x in steps] == [float(number) for number in numbers]
