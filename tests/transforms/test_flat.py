"""Training keeps nothing of its past, however derivatives are asked for."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.tensor import Tensor

STEPS = 120
"""Of each of three parts."""


Pair = tuple[Tensor, Tensor]
Step = Callable[[], Pair]


def loss(w: Tensor, x: Tensor) -> Tensor:
    """Return a number that training makes smaller."""
    return (tw.tanh(x @ w) ** 2).mean()


def functional(x: Tensor) -> Step:
    """`w` is an argument and a result."""
    w = tw.ones((3, 2))

    def step() -> Pair:
        nonlocal w
        value, gradient = tw.value_and_grad(loss)(w, x)
        w = w - 0.01 * gradient
        return value, w

    return step


def by_backward(x: Tensor) -> Step:
    """`w` is a leaf."""
    w = tw.ones((3, 2)).requires_grad_()

    def step() -> Pair:
        value = loss(w, x)
        value.backward()
        assert w.grad is not None
        with tw.no_grad():
            w.__isub__(0.01 * w.grad)
        w.grad = None
        return value, w

    return step


def recorded(x: Tensor) -> Step:
    """The step is recorded where the device records."""
    w = tw.ones((3, 2))

    @tw.jit
    def update(w: Tensor, x: Tensor) -> Pair:
        value, gradient = tw.value_and_grad(loss)(w, x)
        return value, w - 0.01 * gradient

    def step() -> Pair:
        nonlocal w
        value, w = update(w, x)
        return value, w

    return step


def check_flat(style: Callable[[Tensor], Step]) -> None:
    """Train, and compare how much is alive after equal parts."""
    step = style(tw.asarray([[0.1 * n, 0.5, -0.2 * n] for n in range(4)]))
    counts: list[tuple[int, int]] = []
    kept: list[Tensor] = []
    for _ in range(3):
        for number in range(STEPS):
            value, weights = step()
            kept += [value, weights]
            if number % 50 == 0:
                assert value.item() >= 0
        tw.realize(*kept)
        kept.clear()
        del value, weights
        gc.collect()
        alive = gc.get_objects()
        nodes = sum(type(each) is Node for each in alive)
        counts.append((nodes, sum(isinstance(each, Tensor) for each in alive)))
    assert counts[2][0] <= counts[1][0] + 8
    assert counts[2][1] <= counts[1][1] + 2


@pytest.mark.parametrize("style", [functional, by_backward, recorded])
def test_training_is_flat(style: Callable[[Tensor], Step], cpu: str) -> None:
    check_flat(style)


@pytest.mark.parametrize("style", [by_backward, recorded])
def test_training_is_flat_on_the_gpu(
    style: Callable[[Tensor], Step], webgpu: str
) -> None:
    check_flat(style)


def test_a_deep_graph_needs_no_recursion(cpu: str) -> None:
    x = tw.asarray(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y + x
    y.backward()
    assert x.grad is not None
    assert x.grad.item() == 20_001
