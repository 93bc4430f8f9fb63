"""`build.py fuzz`: graphs can be drawn again, wrong elements are found and shown."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from fuzz import duals, graphs, meetings, pairs
from fuzz.__main__ import main
from fuzz.ball import Ball, as_dtype, compared, exact
from fuzz.functions import map_ball
from fuzz.graphs import MANNERS, Wrong, compare, drawn, lines
from fuzz.reductions import position, summed
from tensorweb.backends import numpy_rules

GRAPHS = 12


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(str(tmp_path))


def test_a_seed_draws_the_same_graph_again() -> None:
    texts = [lines(drawn("3-5"), "lazy", "3-5") for _ in range(2)]
    assert texts[0] == texts[1]
    assert texts[0] != lines(drawn("3-6"), "lazy", "3-6")


def test_graphs_hold_every_family() -> None:
    names: Counter[str] = Counter()
    for number in range(60):
        names.update(step.operation for step in drawn(f"families-{number}").steps)
    expected = {"sum", "einsum", "sort", "take", "astype", "where", "any", "pad"}
    expected |= {"{factor} @ {columns}", "{any}[{slices}]", "{filled}[{mask}]"}
    assert expected <= set(names)
    assert len(names) > 70


def test_the_cpu_device_agrees_with_numpy(
    cpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tally = graphs.Tally()
    monkeypatch.setattr(graphs, "TALLY", tally)
    with tw.device(cpu):
        for number in range(GRAPHS):
            assert list(graphs.failures(f"test-{number}")) == []
    assert tally.operations["cpu"] > 10 * GRAPHS
    assert tally.known > 0.5 * tally.elements


def test_one_wrong_element_is_found_and_shown(
    cpu: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = numpy_rules.RULES["concat"]

    def wrong(node: object, inputs: object) -> Any:
        result = np.array(rule(node, inputs))  # type: ignore[arg-type]  # passed on
        if result.size and result.dtype != np.bool_:
            result.reshape(-1)[-1] += 1
        return result

    monkeypatch.setitem(numpy_rules.RULES, "concat", wrong)
    assert main(["600", "wrong", "--device", "cpu"]) == 1
    shown = capsys.readouterr().out
    program = shown.partition("import numpy as np")[2]
    assert "1 of" in shown
    assert "elements are wrong" in shown
    assert 'set_default_device("cpu")' in program
    assert len([line for line in program.splitlines() if " = tw." in line]) <= 4


@pytest.mark.parametrize("manner", MANNERS)
def test_every_manner_is_a_program(manner: str) -> None:
    for number in range(5):
        text = "\n".join(lines(drawn(f"manner-{number}"), manner, "seed"))
        compile(text, "program", "exec")


def test_bounds_are_narrow() -> None:
    third = map_ball(
        "divide", exact(np.ones(1, np.float32)), exact(np.full(1, 3, np.float32))
    )
    assert 0 < third.radius[0] < 2e-7 / 3 * 2
    whole = summed(exact(np.arange(100, dtype=np.float32)), np.sum)
    assert whole.radius == 0
    assert map_ball("floor", exact(np.array([2.5], np.float32))).is_exact
    assert map_ball("add", *ones_and(2.0**20)).is_exact


PAIRS = 24


def test_pairs_of_operations_agree_with_cpu(webgpu: str) -> None:
    rng = random.Random("pairs")
    with tw.device(webgpu):
        for case in rng.sample(pairs.matrix(), PAIRS):
            forms = rng.sample(pairs.second_operations(), 3)
            assert list(pairs.wrong(case, forms)) == []


def test_a_lost_negation_is_found_and_shown(
    webgpu: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    firsts = {each.text: each for each in pairs.first_operations()}
    case = pairs.Case(firsts["tw.negative({x})"], "int32", (64,), "{x}")
    lost = replace(case, first=firsts["tw.positive({x})"])
    computed = pairs._computed

    def without(device: str, case: pairs.Case, *rest: Any) -> Any:
        return computed("cpu", case if device == "cpu" else lost, *rest)

    monkeypatch.setattr(pairs, "matrix", lambda: (case,))
    monkeypatch.setattr(pairs, "_computed", without)
    assert main(["60", "0/1", "--pairs", "--device", webgpu]) == 1
    shown = capsys.readouterr().out
    assert "tw.max((tw.negative(x)), axis=0) of int32 (64,): 1 of 1; at ()" in shown
    assert "1 cases on webgpu" in shown


def test_parts_of_the_matrix_are_the_whole() -> None:
    counts = [pairs.count_of(f"{part}/7") for part in range(7)]
    assert sum(count or 0 for count in counts) == len(pairs.matrix())
    found = [pairs.case_of(f"2/7-{index}") for index in range(counts[2] or 0)]
    assert len(set(found)) == len(found)
    assert pairs.case_of(f"2/7-{counts[2]}") is None


def ones_and(number: float) -> tuple[Ball, Ball]:
    one, other = np.ones(1, np.float32), np.full(1, number, np.float32)
    return exact(one), exact(other)


def test_results_that_depend_on_rounding_are_unknown() -> None:
    near = Ball(np.array([1.0, 2.0]), np.full(2, 1e-6), "float32")
    assert np.isinf(compared(np.equal, near, near).radius).all()
    assert compared(np.less, near, exact(np.full(2, 9, np.float32))).is_exact
    assert np.isinf(as_dtype(near, "int32").radius).all()
    whole = {"along": None, "keepdims": False}
    tied = Ball(np.ones(2), np.full(2, 1e-6), "float32")
    assert np.isinf(position(True, np.argmax, [tied], whole).radius)


def test_signs_of_zeros_and_dtypes_are_compared(cpu: str) -> None:
    with pytest.raises(Wrong, match="wrong"):
        compare(tw.asarray([0.0]), exact(np.array([-0.0], np.float32)), 0)
    with pytest.raises(Wrong, match="dtype"):
        compare(tw.asarray([0]), exact(np.array([0], np.float32)), 0)
    with pytest.raises(Wrong, match="shape"):
        compare(tw.asarray([0.0]), exact(np.zeros((), np.float32)), 0)


@pytest.mark.parametrize("batch", range(4))
def test_transformations_meet(batch: int, device: str) -> None:
    with tw.device(device):
        found = [
            words
            for number in range(batch, 144, 36)
            for words in meetings.failures(f"test-{number}")
        ]
    assert not found


def test_dual_numbers_give_nested_derivatives() -> None:
    third = duals.grad(duals.grad(lambda x: x[0] * x[0] * x[0] * x[1] * 0.5))
    found = duals.jacobian(third)(np.asarray([2.0, 3.0]))
    assert np.asarray(found).shape == (2, 2, 2)
    assert found[0][0].astype(float).tolist() == [9.0, 6.0]
