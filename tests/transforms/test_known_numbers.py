"""Numbers that every course on derivatives knows."""

from __future__ import annotations

import pytest

import tensorweb as tw


def test_tanh_and_square(device: str) -> None:
    assert tw.grad(tw.tanh)(2.0).item() == pytest.approx(0.0706508, abs=1e-6)
    second = tw.grad(tw.grad(tw.tanh))
    assert second(2.0).item() == pytest.approx(-0.1362187, abs=1e-6)
    third = tw.grad(second)
    assert third(2.0).item() == pytest.approx(0.2526541, abs=1e-5)
    x = tw.asarray([1.0, 2.0, 3.0])
    assert tw.jacrev(lambda x: x**2)(x).tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


def micrograd(a: tw.Tensor, b: tw.Tensor) -> tw.Tensor:
    c = a + b
    d = a * b + b**3
    c = c + (c + 1)
    c = c + (1 + c - a)
    d = d + (d * 2 + tw.maximum(b + a, 0))
    d = d + (3 * d + tw.maximum(b - a, 0))
    e = c - d
    f = e**2
    g = f / 2
    return g + 10 / f


def test_the_expression_of_micrograd(device: str) -> None:
    value, (by_a, by_b) = tw.value_and_grad(micrograd, (0, 1))(-4.0, 2.0)
    assert value.item() == pytest.approx(24.7041, abs=1e-4)
    assert by_a.item() == pytest.approx(138.8338, abs=1e-3)
    assert by_b.item() == pytest.approx(645.5773, abs=1e-3)


def test_a_small_network_learns_exclusive_or(device: str) -> None:
    x = tw.asarray([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    wanted = tw.asarray([0.0, 1.0, 1.0, 0.0])
    first = 2 * tw.sin(tw.arange(16.0)).reshape(2, 8)
    parameters = {"w": first, "b": tw.zeros(8), "v": tw.cos(tw.arange(8.0))}

    def loss(p: dict[str, tw.Tensor]) -> tw.Tensor:
        hidden = tw.tanh(x @ p["w"] + p["b"])
        return ((hidden @ p["v"] - wanted) ** 2).mean()

    step = tw.value_and_grad(loss)
    for _ in range(60):
        value, slopes = step(parameters)
        tw.realize(value)
        parameters = tw.tree.map(lambda p, g: p - 0.1 * g, parameters, slopes)
    assert value.item() < 0.01
