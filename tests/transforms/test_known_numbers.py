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
    expected = tw.asarray([0.0, 1.0, 1.0, 0.0])
    first = 2 * tw.sin(tw.arange(16.0)).reshape(2, 8)
    parameters = {"w": first, "b": tw.zeros(8), "v": tw.cos(tw.arange(8.0))}

    def loss(p: dict[str, tw.Tensor]) -> tw.Tensor:
        hidden = tw.tanh(x @ p["w"] + p["b"])
        return ((hidden @ p["v"] - expected) ** 2).mean()

    step = tw.value_and_grad(loss)
    for _ in range(60):
        value, gradients = step(parameters)
        tw.realize(value)
        parameters = tw.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
    assert value.item() < 0.01


def test_a_product_and_its_gradient(device: str) -> None:
    a = tw.arange(1.0, 7.0).reshape(2, 3)
    b = tw.arange(7.0, 13.0).reshape(3, 2)
    y, pull = tw.vjp(lambda a, b: a @ b, a, b)
    assert y.tolist() == [[58, 64], [139, 154]]
    by_a, by_b = pull(tw.asarray([[1.0, 2.0], [3.0, 4.0]]))
    assert by_a.tolist() == [[23, 29, 35], [53, 67, 81]]
    assert by_b.tolist() == [[13, 18], [17, 24], [21, 30]]


def test_indexing_as_the_courses_do_it(device: str) -> None:
    t = tw.arange(1, 25).reshape(4, 3, 2)
    assert t[1:3, 2:, :].tolist() == [[[11, 12]], [[17, 18]]]
    assert t[[2, 1], [2, 1], 1].tolist() == [18, 10]
    assert t[3:1:-1, 2:1:-1].tolist() == [[[23, 24]], [[17, 18]]]
    assert t[[0, 2], :, [0, 1]].tolist() == [[1, 3, 5], [14, 16, 18]]
    outer = tw.take(tw.take(t, tw.asarray([0, 2]), axis=0), tw.asarray([0, 1]), axis=2)
    assert outer.reshape(-1).tolist() == [*range(1, 7), *range(13, 19)]
    x = tw.arange(50).reshape(5, 5, 2)
    even = tw.arange(25).reshape(5, 5) % 2 == 0
    assert x[even].shape == (13, 2)
    assert x[even][:, 0].tolist() == list(range(0, 50, 4))
    ones = tw.ones((5, 6, 7, 8))
    assert ones[:, [0], [0, 1], :].shape == (5, 2, 8)
    assert ones[:, [0], 0, :].shape == (5, 1, 8)
