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
from tensorweb.schedule.kernels import plan
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


def sharing(count: int) -> list[Tensor]:
    """Products of one value that is dear to compute."""
    x = tw.exp(tw.sin(Tensor(value(64))) * 2)
    return [x * (1.0 + number) for number in range(count)]


def norms(layers: int, in_steps: bool = False) -> list[Tensor]:
    """The backward pass of layers with residuals and norms."""
    x = Tensor(value(8, 16))
    weights = [(Tensor(value(16, 16)), Tensor(value(16))) for _ in range(layers)]

    def loss(weights: list[tuple[Tensor, Tensor]]) -> Tensor:
        y = x
        for weight, bias in weights:
            y = y + tw.tanh(y @ weight + bias)
            if not in_steps:
                spread = tw.sqrt(y.var(axis=1, keepdims=True) + 1e-5)
                y = (y - y.mean(axis=1, keepdims=True)) / spread
                continue
            y = y - y.mean(axis=1, keepdims=True)
            y = y / tw.sqrt(y.var(axis=1, keepdims=True) + 1e-5)
        return (y * y).mean()

    return tw.tree.leaves(tw.value_and_grad(loss)(weights))


def norms_in_steps(layers: int) -> list[Tensor]:
    """The same where the variance is that of differences."""
    return norms(layers, in_steps=True)


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
    [
        (residuals, 60),
        (perceptron, 16),
        (chain, 100),
        (outputs, 40),
        (sharing, 100),
        (norms, 16),
        (recurrent, 16),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_twice_the_graph_takes_twice_the_calls(
    build: Callable[[int], list[Tensor]], count: int
) -> None:
    once, twice = (calls(graph_of(build, n)) for n in (count, 2 * count))
    assert twice < 2.2 * once


@pytest.mark.parametrize(
    ("build", "size", "most"),
    [
        (recurrent, 32, 603),
        (norms, 32, 192),
        (norms_in_steps, 32, 301),
        (residuals, 120, 240),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_long_networks_are_cut_only_where_values_are_stored(
    build: Callable[[int], list[Tensor]], size: int, most: int
) -> None:
    """Launches of each step of a network, however many steps there are."""
    planned = plan(graph_of(build, size), 8)
    assert len(planned) <= most
    made = [number for each in planned for number in each.outputs]
    assert len(set(made)) == len(made)


def test_decisions_for_a_recurrent_network_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = graph_of(recurrent, 64)
    decided = 0

    class Counted(fusion.Fusion):
        def __init__(self, *arguments: Any) -> None:
            nonlocal decided
            decided += 1
            super().__init__(*arguments)

    monkeypatch.setattr(kernels, "Fusion", Counted)
    plan(graph, 8)
    assert decided <= 5


def test_no_step_copies_all_that_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    class Watched(set):  # type: ignore[type-arg]  # of anything
        def __or__(self, _: object) -> Any:
            raise AssertionError("all that is stored was copied")

    monkeypatch.setattr(fusion, "set", Watched, raising=False)
    plan(graph_of(perceptron, 4), 8)
    plan(graph_of(residuals, 4), 8)
