"""Planning takes work in proportion to the graph: counted in calls, never timed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.graph.tracing import tracing
from tensorweb.schedule import fusion, kernels
from tensorweb.schedule.kernels import MOST_ROUNDS, plan
from tensorweb.schedule.linear import LinearGraph, linearize
from tensorweb.tensor import Tensor
from tests.shader_corpus import value

pytestmark = pytest.mark.usefixtures("webgpu")

FOLDER = str(kernels.__file__).removesuffix("kernels.py")


def residuals(count: int) -> list[Tensor]:
    x, sums = Tensor(value(8, 8)), []
    for _ in range(count):
        x = x * 1.1 + x.sum(axis=1, keepdims=True) * 0.1
        sums.append(x.sum())
    return sums


def perceptron(layers: int) -> list[Tensor]:
    x, weights = Tensor(value(8, 16)), [Tensor(value(16, 16)) for _ in range(layers)]

    def loss(weights: list[Tensor]) -> Tensor:
        y = x
        for weight in weights:
            y = tw.tanh(y @ weight)
        return (y * y).mean()

    return tw.grad(loss)(weights)


def chain(count: int) -> list[Tensor]:
    x = Tensor(value(64))
    y = x
    for number in range(count):
        y = tw.sin(y) + x * (0.1 + number)
    return [y]


def outputs(count: int) -> list[Tensor]:
    xs = [Tensor(value(64)) for _ in range(8)]
    return [tw.sin(xs[0] * (1 + n)) + xs[n % 8] for n in range(count)]


def recurrent(steps: int) -> list[Tensor]:
    """The backward pass of an LSTM of two layers."""
    x = Tensor(value(steps, 4, 16))
    shapes = [(16, 64), (16, 64), (64,)] * 2
    weights = [Tensor(value(*shape)) for shape in shapes]

    def loss(weights: list[Tensor]) -> Tensor:
        rows = [x[step] for step in range(steps)]
        for layer in range(2):
            take, keep, bias = weights[3 * layer : 3 * layer + 3]
            state = cell = tw.zeros((4, 16), device="webgpu")
            for step, row in enumerate(rows):
                gates = row @ take + state @ keep + bias
                i, f, o, u = (gates[:, 16 * n : 16 * n + 16] for n in range(4))
                cell = tw.sigmoid(f) * cell + tw.sigmoid(i) * tw.tanh(u)
                state = rows[step] = tw.sigmoid(o) * tw.tanh(cell)
        return (rows[-1] ** 2).mean()

    return tw.grad(loss)(weights)


def graph_of(build: Callable[[int], list[Tensor]], count: int) -> LinearGraph:
    with tracing(build.__name__):
        return linearize([each.node.base for each in build(count)])


def calls(graph: LinearGraph) -> int:
    """Return how many functions of the scheduler planning a graph calls."""
    count = 0

    def heard(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(FOLDER)

    sys.setprofile(heard)
    try:
        plan(graph, 8)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("build", "count"),
    [(residuals, 60), (perceptron, 16), (chain, 100), (outputs, 40)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_twice_the_graph_takes_twice_the_calls(
    build: Callable[[int], list[Tensor]], count: int
) -> None:
    once, twice = (calls(graph_of(build, n)) for n in (count, 2 * count))
    assert twice < 2.2 * once


def test_rounds_of_a_recurrent_network_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rounds = 0
    join = kernels._joined

    def counted(*arguments: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return join(*arguments)

    monkeypatch.setattr(kernels, "_joined", counted)
    planned = plan(graph_of(recurrent, 32), 8)
    assert rounds == MOST_ROUNDS + 1
    made = [number for each in planned for number in each.outputs]
    assert len(set(made)) == len(made)


def test_no_step_copies_all_that_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    class Watched(set):  # type: ignore[type-arg]  # of anything
        def __or__(self, _: object) -> Any:
            raise AssertionError("all that is stored was copied")

    monkeypatch.setattr(fusion, "set", Watched, raising=False)
    plan(graph_of(perceptron, 4), 8)
    plan(graph_of(residuals, 4), 8)
